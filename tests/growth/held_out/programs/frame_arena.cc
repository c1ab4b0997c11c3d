// A game with an arena per frame, made of blocks: all blocks are kept between frames, and one more
// is allocated whenever a frame needs more than every frame before it.
//
// shape: arena that grows to its high-water mark by records that become rarer
// leaks: none
// harmless: AddBlock, LoadLevel
// runs: small medium large
#include <memory>

#include "load.h"

class FrameArena {
 public:
  explicit FrameArena(std::size_t block) : block_(block) {}
  void* Allocate(std::size_t bytes) {
    if (used_ + bytes > block_) {
      ++current_;
      used_ = 0;
    }
    if (current_ == blocks_.size()) AddBlock();
    used_ += bytes;
    return blocks_[current_].get() + used_ - bytes;
  }
  void EndFrame() { current_ = used_ = 0; }

 private:
  void AddBlock() { blocks_.push_back(std::make_unique<char[]>(block_)); }

  std::size_t block_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

std::unique_ptr<float[]> LoadLevel(load::Random& random) {
  return std::make_unique<float[]>(random.Between(5000, 50000));
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 34);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  FrameArena arena(run.Pick(256, 2048, 65536));
  load::Random random(1041);
  load::Arrivals frames(run, 1042);
  std::unique_ptr<float[]> level;
  double loaded = -10;
  while (run.Next()) {
    for (unsigned n = frames.Due(60); n > 0; --n) {
      const double objects = 20 + random.Exponential(60);
      for (int i = 0; i < static_cast<int>(objects); ++i) {
        std::memset(arena.Allocate(run.Pick(48, 200, 8000)), 0, 48);
      }
      arena.EndFrame();
    }
    if (run.Seconds() - loaded > 4) {
      loaded = run.Seconds();
      level = LoadLevel(random);
    }
  }
}

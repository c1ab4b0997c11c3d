// A compiler service with an arena of its own on mapped chunks: objects are carved from the newest
// chunk, and a session's chunks are unmapped at its end. Sessions whose client is lost never end.
//
// shape: leak through an arena on mmap
// leaks: AddChunk (mapped)
// harmless: Diagnose
// either: OpenArena
// runs: medium large
#include <sys/mman.h>

#include <memory>
#include <string>

#include "load.h"

class Arena {
 public:
  explicit Arena(std::size_t chunk) : chunk_bytes_(chunk) {}
  ~Arena() {
    for (char* chunk : chunks_) munmap(chunk, chunk_bytes_);
  }
  void* Allocate(std::size_t bytes) {
    if (left_ < bytes) AddChunk();
    left_ -= bytes;
    return chunks_.back() + left_;
  }

 private:
  void AddChunk() {
    void* chunk =
        mmap(nullptr, chunk_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) std::abort();
    chunks_.push_back(static_cast<char*>(chunk));
    left_ = chunk_bytes_;
  }

  std::size_t chunk_bytes_;
  std::vector<char*> chunks_;
  std::size_t left_ = 0;
};

struct Node {
  Node* left;
  Node* right;
  std::uint64_t symbol;
};

Node* Parse(Arena& arena, load::Random& random, int depth) {
  auto* node = static_cast<Node*>(arena.Allocate(sizeof(Node)));
  node->symbol = random();
  node->left = depth > 0 ? Parse(arena, random, depth - 1) : nullptr;
  node->right = depth > 0 ? Parse(arena, random, depth - 1) : nullptr;
  return node;
}

std::unique_ptr<Arena> OpenArena(std::size_t chunk) { return std::make_unique<Arena>(chunk); }

std::string Diagnose(load::Random& random) { return std::string(random.Between(50, 900), 'w'); }

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 8.0, 30.0));
  load::Random random(251);
  load::Arrivals sessions(run, 252);
  std::vector<std::unique_ptr<Arena>> open(16);
  std::vector<std::string> shown(100);
  while (run.Next()) {
    for (unsigned n = sessions.Due(run.Pick(2.0, 10.0, 30.0)); n > 0; --n) {
      auto& arena = open[random.Below(open.size())];
      if (random.Below(8) == 0) static_cast<void>(arena.release());
      arena = OpenArena(run.Pick(8192, 16384, 65536));
      Parse(*arena, random, run.Pick(6, 8, 12));
      shown[random.Below(shown.size())] = Diagnose(random);
    }
  }
}

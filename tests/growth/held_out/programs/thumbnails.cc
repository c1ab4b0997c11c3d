// A photo service with a cache of thumbnails that is limited by bytes, not by number: a few large
// ones drive out many small ones. It is full after a fifth of the run.
//
// shape: cache limited by bytes, of entries of very different sizes
// leaks: none
// harmless: Thumbnail, DecodePhoto
// runs: small medium large
#include <list>
#include <memory>

#include "load.h"

struct Image {
  std::unique_ptr<std::uint8_t[]> pixels;
  std::size_t bytes;
};

class Cache {
 public:
  explicit Cache(std::size_t most) : most_(most) {}
  void Thumbnail(load::Random& random, std::uint64_t mean) {
    const std::size_t bytes = 100 + static_cast<std::size_t>(random.Exponential(mean));
    images_.push_back({std::make_unique<std::uint8_t[]>(bytes), bytes});
    bytes_ += bytes;
    while (bytes_ > most_) {
      bytes_ -= images_.front().bytes;
      images_.pop_front();
    }
  }

 private:
  std::size_t most_;
  std::size_t bytes_ = 0;
  std::list<Image> images_;
};

std::unique_ptr<std::uint8_t[]> DecodePhoto(load::Random& random) {
  return std::make_unique<std::uint8_t[]>(random.Between(10'000, 400'000));
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 20.0));
  const auto mean = run.Pick<std::uint64_t>(1000, 5000, 30000);
  const double rate = run.Pick(20.0, 50.0, 150.0);
  Cache cache(static_cast<std::size_t>(static_cast<double>(mean) * rate * run.Length() / 5));
  load::Random random(801);
  load::Arrivals photos(run, 802);
  while (run.Next()) {
    for (unsigned n = photos.Due(rate); n > 0; --n) {
      DecodePhoto(random);
      cache.Thumbnail(random, mean);
    }
  }
}

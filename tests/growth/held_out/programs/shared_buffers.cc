// A proxy with one factory of buffers. The response cache takes and gives back buffers, the log of
// slow requests only takes: all of them are allocated by the same line.
//
// shape: leak through a factory that a cache shares
// leaks: KeepSlowRequest
// harmless: CacheResponse
// runs: small medium large
#include <deque>
#include <memory>

#include "load.h"

class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(new char[bytes]), size_(bytes) {
    std::memset(bytes_, 'b', bytes);
  }
  ~Buffer() { delete[] bytes_; }
  Buffer(const Buffer&) = delete;
  std::size_t size() const { return size_; }

 private:
  char* bytes_;
  std::size_t size_;
};

class Buffers {
 public:
  static std::unique_ptr<Buffer> Take(std::size_t bytes) { return std::make_unique<Buffer>(bytes); }
};

class Proxy {
 public:
  explicit Proxy(std::size_t responses) : cache_(responses) {}
  void CacheResponse(load::Random& random) {
    cache_[random.Below(cache_.size())] = Buffers::Take(random.Between(200, 2000));
  }
  void KeepSlowRequest(load::Random& random) {
    slow_.push_back(Buffers::Take(random.Between(100, 500)));
  }

 private:
  std::vector<std::unique_ptr<Buffer>> cache_;
  std::deque<std::unique_ptr<Buffer>> slow_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  Proxy proxy(run.Pick(100, 2000, 20000));
  load::Random random(111);
  load::Arrivals requests(run, 112);
  const double rate = run.Pick(100.0, 2000.0, 30000.0);
  const double slow = run.Pick(0.01, 0.02, 0.07);
  while (run.Next()) {
    for (unsigned n = requests.Due(rate); n > 0; --n) {
      proxy.CacheResponse(random);
      if (random.Chance(slow)) proxy.KeepSlowRequest(random);
    }
  }
}

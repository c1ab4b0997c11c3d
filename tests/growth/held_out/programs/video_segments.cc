// A video recorder that maps a region per segment and writes frames into it. Segments that are
// uploaded are unmapped; those whose upload fails are forgotten.
//
// shape: leak of mapped regions, beside mapped regions that come and go
// leaks: MapSegment (mapped)
// harmless: EncodeFrame
// runs: medium large
#include <sys/mman.h>

#include <deque>
#include <memory>

#include "load.h"

struct Segment {
  void* address;
  std::size_t bytes;
};

Segment MapSegment(std::size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) std::abort();
  std::memset(address, 1, bytes);
  return {address, bytes};
}

std::unique_ptr<unsigned char[]> EncodeFrame(load::Random& random) {
  const std::size_t bytes = random.Between(1000, 30000);
  auto frame = std::make_unique<unsigned char[]>(bytes);
  std::memset(frame.get(), 2, bytes);
  return frame;
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  load::Random random(241);
  load::Arrivals segments(run, 242);
  load::Arrivals frames(run, 243);
  std::deque<Segment> uploading;
  const std::size_t bytes = run.Pick(4096, 16384, 262144);
  while (run.Next()) {
    for (unsigned n = frames.Due(200); n > 0; --n) EncodeFrame(random);
    for (unsigned n = segments.Due(5); n > 0; --n) uploading.push_back(MapSegment(bytes));
    while (uploading.size() > 8) {
      if (random.Below(5) != 0) munmap(uploading.front().address, uploading.front().bytes);
      uploading.pop_front();
    }
  }
}

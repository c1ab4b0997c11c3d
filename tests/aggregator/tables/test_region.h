// A region of anonymous memory, for tests of code that works on a region.
#pragma once

#include <sys/mman.h>

#include "aggregator/basics/region.h"

namespace memprof {

class TestRegion {
 public:
  explicit TestRegion(uint64_t budget_bytes = 8 << 20) {
    RegionHeader sizes = {};
    bytes_ = LayOutRegion(sizes, budget_bytes);
    base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    LayOutRegion(*static_cast<RegionHeader*>(base_), budget_bytes);
    region_.Attach(base_, bytes_);
  }
  ~TestRegion() { munmap(base_, bytes_); }
  TestRegion(const TestRegion&) = delete;
  TestRegion& operator=(const TestRegion&) = delete;

  Region& get() { return region_; }

 private:
  void* base_;
  uint64_t bytes_;
  Region region_;
};

}  // namespace memprof

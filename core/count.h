// Count: a number of requested bytes, and the number of blocks that they are in.
#pragma once

#include <cstdint>

namespace memprof {

struct Count {
  uint64_t bytes = 0;
  uint64_t allocations = 0;
  Count& operator+=(const Count& o) {
    bytes += o.bytes;
    allocations += o.allocations;
    return *this;
  }
  friend bool operator==(const Count&, const Count&) = default;
};

}  // namespace memprof

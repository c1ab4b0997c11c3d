// RegionPlace: where a region lies: in a file of its own, or in a part of one that many share
// (core/children_area.h).
//
// Ownership: the descriptor is somebody else's. Thread safety: plain values.
#pragma once

#include <cstdint>

namespace memprof {

struct RegionPlace {
  // NOLINTNEXTLINE: a descriptor alone is a file of its own
  RegionPlace(int file) : fd(file) {}
  RegionPlace(int file, uint64_t begin, uint64_t size) : fd(file), offset(begin), bytes(size) {}

  int fd;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: up to the end of the file
};

}  // namespace memprof

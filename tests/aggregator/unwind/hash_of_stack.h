// A number for a captured stack, by its return addresses and where they lie.
#pragma once

#include <cstdint>

#include "aggregator/unwind/stack_capture.h"

namespace memprof::test {

inline uint32_t HashOfStack(const StackMemory& memory, uint32_t depth) {
  uint64_t hash = depth;
  for (uint32_t i = 0; i < depth; ++i) {
    hash = (hash ^ memory.frames[i].pc) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ memory.frames[i].slot ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
  }
  return static_cast<uint32_t>(hash >> 33);
}

}  // namespace memprof::test

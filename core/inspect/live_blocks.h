// The tracker's table of live blocks, read from a program that stands still.
//
// The program can write its tables, so a damaged one is an error or gives blocks that aren't there;
// it never makes the reader take more memory than the table has.
//
// Thread safety: pure but for the source.
#pragma once

#include <cstdint>
#include <vector>

#include "core/inspect/memory_source.h"
#include "core/protocol/heap_places.h"
#include "core/result.h"

namespace memprof {

struct LiveBlock {
  uint64_t address = 0;
  uint64_t size = 0;  // requested bytes
  uint32_t cell = 0;  // of the region, in which its allocation was counted
  bool inherited = false;
  friend bool operator==(const LiveBlock&, const LiveBlock&) = default;
};

// The blocks of a LiveMap whose LiveMapWords are at `map`, by address, each once.
// Failure: kUnreadable for a table that can't be one.
Result<std::vector<LiveBlock>> ReadLiveMap(const MemorySource& memory, uint64_t map);

// The blocks of the process and those that it inherited, by address, each once.
Result<std::vector<LiveBlock>> ReadLiveBlocks(const MemorySource& memory, const HeapPlaces& places);

}  // namespace memprof

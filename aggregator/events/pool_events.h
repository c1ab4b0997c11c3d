// PoolEvents: blocks of the program's own pools, which it reports (client/memprof/memprof.h).
//
// Thread safety, failure, errno: as heap_events.h.
#pragma once

#include <cstddef>

#include "aggregator/events/caller.h"

namespace memprof {

class InheritedBlocks;
class LiveMap;

// A block of a pool was given out, or taken back.
void OnPoolAllocated(const void* address, size_t size, const Caller& caller);
void OnPoolFree(const void* address);
// A block that was allocated becomes the memory of a pool: it is counted as one of 0 bytes from now
// on.
void OnPoolArena(void* address);

// LiveMap's EndLeftSplit, for the map of the pools' blocks.
void EndLeftSplitOfPools();

// The map of the pools' blocks; it is empty as long as no pool has blocks.
const LiveMap& PoolBlocks();

// In a forked child, by the thread that starts it: moves the blocks of pools to `inherited`.
void RestartPools(InheritedBlocks& inherited);

}  // namespace memprof

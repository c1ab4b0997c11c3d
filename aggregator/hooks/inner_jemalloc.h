// A jemalloc that is linked into the executable. Its calls can't be hooked, so it reports its
// events itself, through mallctl("experimental.hooks.install") of jemalloc 5.2.0 to 5.3.1.
//
//   program ─► malloc of jemalloc ─► OnAllocation ─► the tracker, as from a hook of ours
//
// If one of our own hooks made the call (libstdc++'s operator new on top of this malloc), the hook
// counts it: each event has one source. jemalloc reports no events for its own needs.
//
// A realloc that moves the block is two events of jemalloc's. The new block's event has the old
// address, so it is taken for the whole realloc. The old block's event is then about an unknown
// block.
//
// Known limits: allocations before this library's constructor are not counted (such as libstdc++'s
// 72,704 bytes for exceptions). A signal handler that interrupts an event here is not seen, since
// jemalloc calls no hook within one. The same holds, from then on, for a thread that leaves an
// event by siglongjmp. realloc(p, 0) has a size of 1.
//
// Thread safety: once, by the constructor. The events come from any thread.
// Failure: if jemalloc refuses, that is noted in the region, and its blocks aren't seen.
#pragma once

#include "core/protocol/region_layout.h"

namespace memprof {

// Hooks the jemalloc that region.options.jemalloc names. Pre: this process counts.
void HookInnerJemalloc(RegionHeader& region);

}  // namespace memprof

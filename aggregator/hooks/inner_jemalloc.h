// A jemalloc that is linked into the executable: nothing comes between the program and it, so it
// tells us itself, through mallctl("experimental.hooks.install") of jemalloc 5.2.0 to 5.3.1.
//
//   program ─► malloc of jemalloc ─► OnAllocation ─► the tracker, as from a hook of ours
//
// What our own hooks have called (libstdc++'s operator new on top of this malloc) is theirs: one
// event, one source. jemalloc has no event for what it does for itself.
//
// realloc is two of jemalloc's events where the block moves: the new block's has the old address,
// so it is taken for the whole, and the old block's is then of a block that nobody knows.
//
// Known limits: what was allocated before this library's constructor (by those of libraries that
// the program needs, such as libstdc++'s 72,704 bytes for exceptions) is not counted. A signal
// handler that interrupts an event here is not seen, since jemalloc calls no hook within one; nor
// is a thread that leaves an event by siglongjmp, from then on. realloc(p, 0) has a size of 1.
//
// Thread safety: once, by the constructor. The events come from any thread.
// Failure: what jemalloc refuses is noted in the region, and its blocks aren't seen.
#pragma once

#include <cstddef>

#include "core/protocol/region_layout.h"

namespace memprof {

using Mallctl = int(const char* name, void* old, size_t* old_bytes, void* fresh, size_t bytes);

// Hooks the jemalloc that region.options.jemalloc names. Pre: this process counts.
void HookInnerJemalloc(RegionHeader& region);

// The mallctl of the jemalloc that is hooked, also in forked children; nullptr: there is none. It
// may be called where malloc may be, and from an event of jemalloc's, which holds no lock then.
Mallctl* InnerMallctl();

}  // namespace memprof

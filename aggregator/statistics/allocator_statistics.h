// AllocatorStatistics: what the allocator behind our hooks says of itself, for the region.
//
//   jemalloc   mallctl: the epoch, then stats.*; also of one inside the executable that is hooked
//              (hooks/inner_jemalloc.h), whose figures are added to the other's behind our hooks
//   tcmalloc   MallocExtension's numeric properties
//   mimalloc   says nothing of blocks: only that it is there
//   glibc      mallinfo2, which looks at every free chunk, where that isn't long (glibc_walk.h)
//
// Its own functions take its locks, so they are asked where the thread has none of these: with no
// frame of the allocator on its stack. An event alone doesn't tell that: jemalloc starts a thread
// of its own within mallctl, and the loader then allocates that thread's storage by malloc; a
// signal handler may have interrupted mallctl. A stack that isn't known to its end is one of those.
// The functions are looked for at the start (hooks/next_function.h), and only those of the object
// that has malloc are taken.
//
// Thread safety: any thread; one asks at a time, the others go on. errno is kept.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/events/tables.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// At the end of the process. `caller` is that of the function that calls this one. Pre: within the
// tracker, not within a call of a hook's.
void ReportAllocatorAtEnd(const StartRegisters& caller);

// What the region's reader asked for, if the thread's stack allows it.
void TryToAnswerReader(const StartRegisters& caller);

extern constinit std::atomic<uint32_t> allocator_answered;  // of RegionHeader.allocator_wanted

// Reports if the region's reader asked for it. Pre: within an event of the heap; `caller` is the
// hook's, which is on the stack.
inline void AnswerReader(const StartRegisters& caller) {
  if (__builtin_expect(process_region.header().allocator_wanted.load(std::memory_order_relaxed) !=
                           allocator_answered.load(std::memory_order_relaxed),
                       0)) {
    TryToAnswerReader(caller);
  }
}

}  // namespace memprof

// AllocatorStatistics: what the allocator behind our hooks says of itself, for the region.
//
//   jemalloc   mallctl: the epoch, then stats.*; also of one inside the executable that is hooked
//              (hooks/inner_jemalloc.h), whose figures are added to the other's behind our hooks
//   tcmalloc   MallocExtension's numeric properties
//   mimalloc   says nothing of blocks: only that it is there
//   glibc      mallinfo2, which looks at every free chunk: while the heap is small, and at the end
//
// Its own functions are asked between two events of the thread, never within the allocator nor in a
// signal handler that interrupted it: there they may take its locks as malloc does. They are looked
// for at the start (hooks/next_function.h), and only those of the object that has malloc are taken.
//
// Thread safety: any thread; one asks at a time, the others go on. errno is kept.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/events/tables.h"

namespace memprof {

// Pre: within the tracker, not within the allocator.
void ReportAllocator(bool at_end);

extern constinit std::atomic<uint32_t> allocator_answered;  // of RegionHeader.allocator_wanted

// Reports if the region's reader asked for it. Pre: of an event of the heap, whose allocator has
// none of its locks then; a mapping may be one that an allocator makes within its own.
inline void AnswerReader() {
  if (__builtin_expect(process_region.header().allocator_wanted.load(std::memory_order_relaxed) !=
                           allocator_answered.load(std::memory_order_relaxed),
                       0)) {
    ReportAllocator(false);
  }
}

}  // namespace memprof

// AllocatorStatistics: writes the allocator's own figures to the region.
//
//   jemalloc   mallctl: the epoch, then stats.*; also for one inside the executable that is hooked
//              (hooks/inner_jemalloc.h): its figures are added to those of the allocator behind
//              our hooks
//   tcmalloc   MallocExtension's numeric properties
//   mimalloc   only its name: it gives no figures for blocks
//   glibc      only its name: mallinfo2 follows the lists of free blocks. It aborts a program that
//              has overwritten one of them and would have ended well. It also waits for each
//              arena's lock. There is no way to ask without a lock, and main_arena, which could be
//              read instead, has no symbol in a stripped libc.
//
// jemalloc and tcmalloc take their locks too, and wait for ever if a lock's owner doesn't come
// back. The owner may be a thread that a collector's signal stopped in malloc, a thread that ended
// there, or the frame below a signal handler that calls exit. Looking at other threads first would
// not help: one may enter the allocator, and be stopped there, between the look and the question.
//
// Invariant: when an allocator is asked, nobody holds a lock of it. This follows from these
// conditions:
//   - The process has one thread and had no other (glibc's __libc_single_threaded).
//   - No frame of the thread's stack is the allocator's, down to the stack's end (which also covers
//     calls that aren't hooked, such as mallctl, and what a signal handler interrupted), and the
//     thread is within no hook's call.
//   - No hook's call was left by siglongjmp.
//   - Signals are blocked until the allocator has answered.
// The remaining gaps: a thread of a raw clone(), which glibc doesn't know (its own malloc isn't
// safe then either); and a lock that the only thread left taken by siglongjmp out of a function
// that isn't hooked, or out of an inner jemalloc's.
//
// An event alone doesn't tell where a thread is. jemalloc starts a thread of its own within
// mallctl, and the loader then allocates that thread's storage by malloc. A signal handler may have
// interrupted mallctl. A stack that isn't known to its end counts as such a case. The functions are
// searched at the start (allocator/next_function.h), and only those of the object that has malloc
// are used.
//
// Thread safety: any thread; one reports at a time, the others go on. errno is preserved.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/state/process_tables.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// Call it at the end of the process. `caller` is that of the function that calls this one. Pre:
// within the tracker.
void ReportAllocatorAtEnd(const StartRegisters& caller);

// Answers the region's reader if the thread's stack allows it.
void TryToAnswerReader(const StartRegisters& caller);

// A thread left a hook's call by a jump: the allocator isn't asked any more.
void NoteAllocatorWasLeft();

// the last RegionHeader.allocator_wanted that was answered
extern constinit std::atomic<uint32_t> allocator_answered;

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

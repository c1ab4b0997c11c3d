// AllocatorStatistics: what the allocator behind our hooks says of itself, for the region.
//
//   jemalloc   mallctl: the epoch, then stats.*; also of one inside the executable that is hooked
//              (hooks/inner_jemalloc.h), whose figures are added to the other's behind our hooks
//   tcmalloc   MallocExtension's numeric properties
//   mimalloc   only that it is there: it says nothing of blocks
//   glibc      only that it is there: mallinfo2 follows the lists of free blocks, and aborts a
//              program that wrote to one of them and would have ended well; and it waits for each
//              arena's lock. There is no way to ask without, and what to read instead
//              (main_arena) has no symbol in a stripped libc.
//
// The others take their locks too, and wait for ever where the owner doesn't come back: a thread
// that a collector's signal stopped in malloc, or that ended there; the frame below a signal
// handler that calls exit. Looking at what other threads do would not help, since one may enter
// the allocator, and be stopped there, between the look and the question.
//
// Invariant: when an allocator is asked, nobody has a lock of it. For
//   - the process has one thread and had no other (glibc's __libc_single_threaded);
//   - no frame of the thread's stack is the allocator's, as far as the stack's end (which also sees
//     calls that aren't hooked, such as mallctl, and what a signal handler interrupted), and the
//     thread is within no hook's call;
//   - no hook's call was left by siglongjmp;
//   - signals are blocked until it has answered.
// What is left: a thread of a raw clone(), which glibc doesn't know (its own malloc isn't safe
// then either); a function that isn't hooked, or an inner jemalloc's, which the only thread left by
// siglongjmp with a lock taken.
//
// An event alone doesn't tell where a thread is: jemalloc starts a thread of its own within
// mallctl, and the loader then allocates that thread's storage by malloc; a signal handler may have
// interrupted mallctl. A stack that isn't known to its end is one of those.
// The functions are looked for at the start (hooks/next_function.h), and only those of the object
// that has malloc are taken.
//
// Thread safety: any thread; one reports at a time, the others go on. errno is kept.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/events/tables.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// At the end of the process. `caller` is that of the function that calls this one. Pre: within the
// tracker.
void ReportAllocatorAtEnd(const StartRegisters& caller);

// What the region's reader asked for, if the thread's stack allows it.
void TryToAnswerReader(const StartRegisters& caller);

// A thread came out of a hook's call by a jump: the allocator isn't asked any more.
void NoteAllocatorWasLeft();

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

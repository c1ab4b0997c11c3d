// ThreadState: where the calling thread is, for hooks and for the tracker behind them.
//
//   kInAllocator  a hook has called the real allocator: the allocator's own allocations are part of
//                 the same event and are not counted again
//   kInFree       … and the event is a free: its own frees likewise. (A free within an allocation
//                 is the program's: a new-handler gives memory back.)
//   kInTracker    in a function of events/, mappings/ or client/: an event now comes from a signal
//                 handler, which must not touch the slot that it interrupted; it goes to the shared
//                 cells
//
// A signal handler may leave all of these by siglongjmp. So the state also has the stack pointer of
// the outermost scope. A hook that is called from above it on the same stack knows that the scope
// is gone (events/left_scope.h).
//
// After a thread's key destructors have run, nothing would release its slot. From then on each
// event borrows a slot and gives it back at its end.
//
// Thread safety: each thread has its own; a signal handler sees it as its thread left it.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/tables/last_allocations.h"

namespace memprof {

struct ThreadSlot;

// The scope is one word, so that a signal handler never sees one part without the other.
struct ThreadState {
  ThreadSlot* slot;
  uintptr_t scope;  // the flags below | if a flag is set, the outermost scope's stack pointer
  uint32_t events_without_slot;  // events to go before it asks for a slot again
  bool exiting;                  // its key destructors have run
  bool borrows;                  // the slot is given back at the end of this event
  int64_t countdown;             // sampling: bytes to the next sample; 0: never drawn
  // used while every event is counted and the temporary threshold is 1
  LastAllocation last;
  uintptr_t freed;  // the block that it freed last; used while every event is counted
};
inline constexpr uintptr_t kInAllocator = 1;
inline constexpr uintptr_t kInTracker = 2;
inline constexpr uintptr_t kInFree = 4;
inline constexpr uintptr_t kScopeFlags = 7;
inline constexpr uintptr_t kUnknownScope = ~kScopeFlags;  // no stack pointer is above it

extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

inline bool InAllocator() { return (thread_state.scope & kInAllocator) != 0; }

// True if the thread's scope says that a hook that is called now is within another one. That is
// also so after a siglongjmp out of a hook: CalledWithin (events/left_scope.h) finds that out.
[[gnu::always_inline]] inline bool WithinHook() { return (thread_state.scope & kScopeFlags) != 0; }

// Sets flags; returns the value that the scope has to get back at the end.
[[gnu::always_inline]] inline uintptr_t EnterScope(uintptr_t flags) {
  const uintptr_t before = thread_state.scope;
  uintptr_t sp;
  __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
  thread_state.scope = ((before & kScopeFlags) != 0 ? before : sp & ~kScopeFlags) | flags;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return before;
}
[[gnu::always_inline]] inline void LeaveScope(uintptr_t before) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread_state.scope = before;
}

// As AllocatorScope, if it is not within one.
class OutermostScope {
 public:
  explicit OutermostScope(uintptr_t flags) {
    uintptr_t sp;
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
    thread_state.scope = (sp & ~kScopeFlags) | flags;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~OutermostScope() { LeaveScope(0); }
  OutermostScope(const OutermostScope&) = delete;
  OutermostScope& operator=(const OutermostScope&) = delete;
};

// Lives over the call of the real allocator.
class AllocatorScope {
 public:
  explicit AllocatorScope(uintptr_t flags = kInAllocator) : before_(EnterScope(flags)) {}
  ~AllocatorScope() { LeaveScope(before_); }
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;

 private:
  const uintptr_t before_;
};

}  // namespace memprof

// Tracker: what a hook calls. Turns an event of the host's heap into counts in the region.
//
//   hook ─► CaptureStack ─► StackTable ─► site ─┐
//        ─► LiveMap (address → size, site)      ├─► PeakTracker (order, epoch) ─► cell
//
// Thread safety: every function may be called by any thread at any moment, also by a signal handler
// that interrupts any other of them, before our constructor ran and after our destructor.
// Failure: never. What can't be counted is counted as dropped; the host goes on.
// errno is kept.
//
// A thread's state says where it is:
//   kInAllocator  a hook has called the real allocator: what that allocates itself is part of the
//                 same event and is not counted again
//   kInFree       … and the event is a free: what that frees itself likewise. (Within an allocation
//                 a free is the program's own: a new-handler gives memory back.)
//   kInTracker    in the functions below: an event now comes from a signal handler, which must not
//                 touch the slot it interrupted; it goes to the shared cells
// A signal handler may leave all of these by siglongjmp. So the state also has the stack pointer of
// the outermost scope: a hook that is called from above it on the same stack knows that it is gone.
//
// When a thread's key destructors have run, nothing would release a slot that it keeps: from then
// on each event borrows one and gives it back at its end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "aggregator/tables/last_allocations.h"
#include "aggregator/unwind/stack_capture.h"
#include "core/protocol/allocator_kind.h"

namespace memprof {

struct ThreadSlot;

// One word, so that a signal handler never sees one part without the other.
struct ThreadState {
  ThreadSlot* slot;
  uintptr_t scope;  // the flags below | the outermost scope's stack pointer, where a flag is set
  uint32_t events_without_slot;  // still to come before it asks for one again
  bool exiting;                  // its key destructors ran
  bool borrows;                  // the slot is given back at the end of this event
  int64_t countdown;             // sampling: bytes to the next sample; 0: never drawn (sampler.h)
  LastAllocation last;           // while every event is counted and the temporary threshold is 1
  uintptr_t freed;               // the block that it freed last, while every event is counted
};
inline constexpr uintptr_t kInAllocator = 1;
inline constexpr uintptr_t kInTracker = 2;
inline constexpr uintptr_t kInFree = 4;
inline constexpr uintptr_t kScopeFlags = 7;
inline constexpr uintptr_t kUnknownScope = ~kScopeFlags;  // a stack pointer that nothing is above

extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// One page that a forked child gets zeroed (MADV_WIPEONFORK): while this process counts, which
// events.
inline constexpr uint32_t kCountsAll = 1;
inline constexpr uint32_t kCountsSamples = 2;
inline constexpr uint32_t kCountsAllUnusual = 3;  // all; the temporary threshold is above 1, or
                                                  // scopes watch threads (counting_mode.h)
inline constexpr uint32_t kStoppedAll = 4;        // the program stopped counting: only frees, of
inline constexpr uint32_t kStoppedSamples = 5;    // all known blocks or of samples
extern std::atomic<uint32_t>* counting;

// Starts the tracker if it can be started now. True: this process counts.
bool StartTracker();

// Whether the event of a hook is to be counted at all.
inline bool Counting() { return counting->load(std::memory_order_relaxed) != 0 || StartTracker(); }

bool CountsAllUnusually();  // for CountsAll, where it is neither kCountsAll nor kCountsSamples

// Whether every event is counted. If not, samples are, or none: CountsSamples.
[[gnu::always_inline]] inline bool CountsAll() {
  const uint32_t which = counting->load(std::memory_order_relaxed);
  if (__builtin_expect(which == kCountsAll, 1)) return true;
  return which != kCountsSamples && CountsAllUnusually();
}
inline bool CountsAnything() { return counting->load(std::memory_order_relaxed) != 0; }
inline bool CountsSamples() { return counting->load(std::memory_order_relaxed) == kCountsSamples; }

inline bool InAllocator() { return (thread_state.scope & kInAllocator) != 0; }

// A scope is set and there is a call of a hook from `sp`, above it: takes the flags back and counts
// a dropped event, if the scope is gone and not just on another stack.
void ForgetLeftScope(uintptr_t sp);

// Whether the call of a hook from `sp` is within a scope with that flag.
[[gnu::always_inline]] inline bool CalledWithin(uintptr_t flag, uintptr_t sp) {
  const uintptr_t scope = thread_state.scope;
  if ((scope & kScopeFlags) == 0) return false;
  if (__builtin_expect(sp > (scope & ~kScopeFlags), 0)) ForgetLeftScope(sp);
  return (thread_state.scope & flag) != 0;
}

// Sets flags; returns what to set the scope to at the end.
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

// Whether the thread's scope says that a call of a hook now is within another one's. After a
// siglongjmp out of one it does so too: then CalledWithin finds that out.
[[gnu::always_inline]] inline bool WithinHook() { return (thread_state.scope & kScopeFlags) != 0; }

// As AllocatorScope, where it is not within one.
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

// Over the call of the real allocator.
class AllocatorScope {
 public:
  explicit AllocatorScope(uintptr_t flags = kInAllocator) : before_(EnterScope(flags)) {}
  ~AllocatorScope() { LeaveScope(before_); }
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;

 private:
  const uintptr_t before_;
};

// Who called the allocator, and which function of it.
struct Caller {
  StartRegisters registers;
  AllocatorKind kind;
};

// A block that is taken out of the live map and whose event is not decided yet (realloc).
struct ClaimedBlock {
  uint32_t known;  // 0: it is none of ours; else the fork_generation it is of
                   // (fork/forked_child.h), less than ours if it is of before a fork
  uint64_t size;   // of one that isn't known: UnseenSize (arrival.h)
  uint32_t cell;
};

// `address` was allocated with `size` requested bytes.
void OnAllocated(void* address, size_t size, const Caller& caller);

// `address` is about to be freed.
void OnFree(void* address);

// The same by an operator delete. False: it isn't known, and nothing is counted. Then the real
// delete may come to the free of the block itself; if it did not, OnUnknownDeleted with what
// SizeOfUnknown gave before.
bool OnDelete(void* address);
uint64_t SizeOfUnknown(const void* address);
void OnUnknownDeleted(uint64_t size);

// realloc, in three steps: claim before the real call; then exactly one of the others.
ClaimedBlock ClaimForRealloc(void* address);
void OnReallocated(const ClaimedBlock& old, void* address, size_t size, const Caller& caller);
void OnReallocFreed(const ClaimedBlock& old, void* address);   // realloc(p, 0) that freed p
void OnReallocFailed(const ClaimedBlock& old, void* address);  // the old block is as it was

// The same of sampled blocks, which are booked with their weight; a claimed one's size is as kept
// (KeptSize). What was no sample is none of theirs: of it only MaybeSample (sampler.h) is asked.
void OnSampled(void* address, size_t size, const Caller& caller);
void OnSampleFree(void* address);
ClaimedBlock ClaimSample(void* address);
// `sampled`: the new block is one. If neither block is, there is no event.
void OnSampleReallocated(const ClaimedBlock& old, void* address, size_t size, bool sampled,
                         const Caller& caller);
void OnSampleReallocFreed(const ClaimedBlock& old);
void OnSampleReallocFailed(const ClaimedBlock& old, void* address);

// A block of a pool of the program's own is given out, or taken back; and a block that was
// allocated is the memory of such a pool from now on: it is counted as one of 0 bytes
// (client/memprof/memprof.h).
void OnPoolAllocated(const void* address, size_t size, const Caller& caller);
void OnPoolFree(const void* address);
void OnPoolArena(void* address);

// A thread has another name now; kEveryThread: some thread has.
inline constexpr uint32_t kEveryThread = 0;
void OnThreadRenamed(uint32_t tid);

// Around an unload of a module.
void BeforeModulesChange();
void AfterModulesChange();

}  // namespace memprof

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
//   kExiting      its key destructors ran: nothing will release a slot that it keeps, so each event
//                 borrows one (kBorrows) and gives it back at its end
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "aggregator/unwind/stack_capture.h"

namespace memprof {

struct ThreadSlot;

struct ThreadState {
  ThreadSlot* slot;
  uint32_t flags;
  uint32_t events_without_slot;  // still to come before it asks for one again
};
inline constexpr uint32_t kInAllocator = 1;
inline constexpr uint32_t kInTracker = 2;
inline constexpr uint32_t kInFree = 4;
inline constexpr uint32_t kExiting = 8;
inline constexpr uint32_t kBorrows = 16;

extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// One page that a forked child gets zeroed (MADV_WIPEONFORK): 1 while this process counts.
extern std::atomic<uint32_t>* counting;

// Starts the tracker if it can be started now. True: this process counts.
bool StartTracker();

// Whether the event of a hook is to be counted at all.
inline bool Counting() { return counting->load(std::memory_order_relaxed) != 0 || StartTracker(); }

inline bool InAllocator() { return (thread_state.flags & kInAllocator) != 0; }
inline bool InFree() { return (thread_state.flags & kInFree) != 0; }

// Over the call of the real allocator.
class AllocatorScope {
 public:
  explicit AllocatorScope(uint32_t flags = kInAllocator) : before_(thread_state.flags) {
    thread_state.flags = before_ | flags;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~AllocatorScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_state.flags = before_;
  }
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;

 private:
  const uint32_t before_;
};

// A block that is taken out of the live map and whose event is not decided yet (realloc).
struct ClaimedBlock {
  bool known;
  uint64_t size;
  uint32_t cell;
};

// `address` was allocated with `size` requested bytes by the function of `start`.
void OnAllocated(void* address, size_t size, const StartRegisters& start);

// `address` is about to be freed.
void OnFree(void* address);

// realloc, in three steps: claim before the real call; then exactly one of the others.
ClaimedBlock ClaimForRealloc(void* address);
void OnReallocated(const ClaimedBlock& old, void* address, size_t size,
                   const StartRegisters& start);
void OnReallocFreed(const ClaimedBlock& old);                  // realloc(p, 0) that freed
void OnReallocFailed(const ClaimedBlock& old, void* address);  // the old block is as it was

// A thread has another name now; kEveryThread: some thread has.
inline constexpr uint32_t kEveryThread = 0;
void OnThreadRenamed(uint32_t tid);

// Around an unload of a module.
void BeforeModulesChange();
void AfterModulesChange();

}  // namespace memprof

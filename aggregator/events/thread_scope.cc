#include "aggregator/events/thread_scope.h"

#include <signal.h>

#include "aggregator/events/order.h"
#include "aggregator/events/tables.h"
#include "aggregator/hooks/errno_guard.h"
#include "aggregator/kernel_calls.h"
#include "aggregator/libc_functions.h"
#include "aggregator/statistics/allocator_statistics.h"
#include "aggregator/system_call_filters.h"

namespace memprof {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

namespace {

// The calling thread was taken out of one of the functions of tracker.h. `slot`: null if it has
// none.
void MendLeft(ThreadSlot* slot) {
  if (slot != nullptr) {
    ForgetCaptures(slot->stack);
    slot_cells.Mend(*slot);
  }
  segments.Forget(&thread_state);
  live.EndLeftSplit();
  EndLeftSplitOfPools();
}

}  // namespace

void ReleaseAtThreadExit(void* pointer) {
  auto* slot = static_cast<ThreadSlot*>(pointer);
  // Nothing is below the thread's own last function: what it was in, a handler's pthread_exit left.
  if ((thread_state.scope & kInTracker) != 0) {
    MendLeft(slot);
    Count(process_region.header().dropped_events);
  }
  LeaveScope(0);
  const TrackerScope scope;
  thread_state.exiting = true;
  thread_state.slot = nullptr;
  slots.Release(slot);
}

[[gnu::noinline]] void GiveSlotBack() {
  ThreadSlot* slot = thread_state.slot;
  thread_state.slot = nullptr;
  thread_state.borrows = false;
  slots.Release(slot);
}

[[gnu::noinline]] ThreadSlot* AttachThread() {
  if (thread_state.events_without_slot != 0) {
    --thread_state.events_without_slot;
    return nullptr;
  }
  const ErrnoGuard keep;
  ThreadSlot* slot =
      SystemCallsFilteredByNow() ? slots.Acquire(kUnknownOwner) : slots.Acquire(kernel::Tid());
  if (slot == nullptr) {
    thread_state.events_without_slot = kAcquireAgainAfter;
    return nullptr;
  }
  thread_state.slot = slot;
  UpdateSlack();  // there is one more thread to share it
  if (!thread_state.exiting) {
    TheLibc().setspecific(exit_key, slot);
  } else {
    thread_state.borrows = true;
  }
  return slot;
}

void ForgetLeftScope(uintptr_t sp) {
  ThreadSlot* slot = thread_state.slot;
  const uintptr_t scope = thread_state.scope;
  if (counting->load(std::memory_order_relaxed) == 0 || SystemCallsFiltered()) return;
  // Without a slot it isn't known where the own stack is; but within the tracker only a signal
  // handler comes by.
  if (slot != nullptr ? !IsAboveOnOwnStack(slot->stack, sp, scope & ~kScopeFlags)
                      : (scope & kInTracker) == 0) {
    return;
  }
  // On an alternate stack that lies within the thread's own, all below may be alive.
  stack_t alternate;
  if (kernel::Call(SYS_sigaltstack, nullptr, &alternate) != 0 ||
      (alternate.ss_flags & SS_ONSTACK) != 0)
    return;
  if ((scope & kInTracker) != 0) MendLeft(slot);
  if ((scope & kInAllocator) != 0) NoteAllocatorWasLeft();
  Count(process_region.header().dropped_events);
  LeaveScope(0);
}

void OnThreadRenamed(uint32_t tid) {
  const TrackerScope scope;
  slots.MarkRenamed(tid);
}

}  // namespace memprof

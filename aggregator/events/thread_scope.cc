#include "aggregator/events/thread_scope.h"

#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/system_call_filters.h"
#include "aggregator/events/left_scope.h"
#include "aggregator/events/order.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/tables/slot_owners.h"

namespace memprof {
namespace {

// A forked child that doesn't count yet still has its parent's region, which it must not change.
void Release(ThreadSlot* slot) {
  if (CountsAnything()) NoteEnded(process_region, *slot);
  slots.Release(slot);
}

}  // namespace

void ReleaseAtThreadExit(void* pointer) {
  auto* slot = static_cast<ThreadSlot*>(pointer);
  // Nothing is below the thread's own last function: a handler left the old scope by pthread_exit.
  if ((thread_state.scope & kInTracker) != 0) {
    MendTables(slot);
    Count(process_region.header().dropped_events);
  }
  LeaveScope(0);
  const TrackerScope scope;
  thread_state.exiting = true;
  thread_state.slot = nullptr;
  Release(slot);
}

[[gnu::noinline]] void GiveSlotBack() {
  ThreadSlot* slot = thread_state.slot;
  thread_state.slot = nullptr;
  thread_state.borrows = false;
  Release(slot);
}

[[gnu::noinline]] ThreadSlot* AttachThread() {
  if (thread_state.events_without_slot != 0) {
    --thread_state.events_without_slot;
    return nullptr;
  }
  const ErrnoGuard keep;
  uint32_t owner = kUnknownOwner;
  if (!SystemCallsFilteredByNow()) {
    // A child by vfork has its parent's thread_state: with the child as the owner, the slot would
    // be taken for one of a thread that has ended.
    if (kernel::Pid() != process_region.header().pid) return nullptr;
    owner = kernel::Tid();
  }
  ThreadSlot* slot = slots.Acquire(owner);
  if (slot == nullptr) {
    thread_state.events_without_slot = kAcquireAgainAfter;
    return nullptr;
  }
  NoteTaken(process_region, *slot);
  thread_state.slot = slot;
  UpdateSlack();  // one more thread shares it
  if (!thread_state.exiting) {
    if (TheLibc().setspecific(exit_key, slot) == 0) NoteOwner(process_region, *slot);
  } else {
    thread_state.borrows = true;
  }
  return slot;
}

void OnThreadRenamed(uint32_t tid) {
  const TrackerScope scope;
  slots.MarkRenamed(tid);
}

}  // namespace memprof

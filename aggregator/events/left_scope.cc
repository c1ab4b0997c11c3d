#include "aggregator/events/left_scope.h"

#include <signal.h>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/events/pool_events.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/statistics/allocator_statistics.h"

namespace memprof {

void MendTables(ThreadSlot* slot) {
  if (slot != nullptr) {
    ForgetCaptures(slot->stack);
    slot_cells.Mend(*slot);
  }
  segments.Forget(&thread_state);
  live.EndLeftSplit();
  EndLeftSplitOfPools();
}

void ForgetLeftScope(uintptr_t sp) {
  ThreadSlot* slot = thread_state.slot;
  const uintptr_t scope = thread_state.scope;
  if (!CountsAnything() || SystemCallsFiltered()) return;
  // Without a slot the thread's own stack isn't known. But within the tracker only a signal handler
  // can come here.
  if (slot != nullptr ? !IsAboveOnOwnStack(slot->stack, sp, scope & ~kScopeFlags)
                      : (scope & kInTracker) == 0) {
    return;
  }
  // If the alternate stack is within the thread's own one, all frames below may be alive.
  stack_t alternate;
  if (kernel::Call(SYS_sigaltstack, nullptr, &alternate) != 0 ||
      (alternate.ss_flags & SS_ONSTACK) != 0)
    return;
  if ((scope & kInTracker) != 0) MendTables(slot);
  if ((scope & kInAllocator) != 0) NoteAllocatorWasLeft();
  Count(process_region.header().dropped_events);
  LeaveScope(0);
}

}  // namespace memprof

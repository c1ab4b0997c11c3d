#include "aggregator/client/tracker_access.h"

#include "aggregator/events/left_scope.h"
#include "aggregator/events/order.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/tables/peak_tracker.h"

namespace memprof {

TrackerAccess::TrackerAccess()
    : before_((CalledWithin(kInTracker, reinterpret_cast<uintptr_t>(__builtin_frame_address(0))),
               EnterScope(kInTracker))) {
  usable_ = CountsAnything() && (before_ & kInTracker) == 0;
  if (!usable_) return;
  slot_ = thread_state.slot != nullptr ? thread_state.slot : AttachThread();
  if (slot_ == nullptr || slot_->pending == 0 || ForkedMeanwhile()) return;
  PeakTracker(PeakPlaceOf(process_region)).RecordKept(PeakCallerOf(slot_), slot_->pending);
}

TrackerAccess::~TrackerAccess() {
  // A segment with a lower peak may have begun.
  if (usable_ && slot_ != nullptr && !ForkedMeanwhile()) UpdateSlack();
  if (thread_state.borrows && (before_ & kInTracker) == 0) GiveSlotBack();
  LeaveScope(before_);
}

const Region& TrackerAccess::region() const { return process_region; }
Segments& TrackerAccess::segments() const { return memprof::segments; }
SlotCells::Sums TrackerAccess::sums() const {
  return slot_ != nullptr ? slot_cells.SumOf(*slot_) : SlotCells::Sums{};
}

}  // namespace memprof

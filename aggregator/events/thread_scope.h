// TrackerScope: the calling thread within one of the functions of tracker.h, and the slot that it
// counts in there.
#pragma once

#include "aggregator/tables/thread_slot.h"
#include "aggregator/tracker.h"

namespace memprof {

void GiveSlotBack();

// Over one of the functions of tracker.h. Nested: the thread was inside one already.
class TrackerScope {
 public:
  TrackerScope() : before_(EnterScope(kInTracker)) {}
  ~TrackerScope() {
    if (__builtin_expect(thread_state.borrows, 0) && !nested()) GiveSlotBack();
    LeaveScope(before_);
  }
  TrackerScope(const TrackerScope&) = delete;
  TrackerScope& operator=(const TrackerScope&) = delete;

  bool nested() const { return (before_ & kInTracker) != 0; }

 private:
  const uintptr_t before_;
};

// A slot for a thread that has none; nullptr: there is none now, the shared cells are to be used.
ThreadSlot* AttachThread();

inline ThreadSlot* SlotOf(const TrackerScope& scope) {
  if (scope.nested()) return nullptr;
  return thread_state.slot != nullptr ? thread_state.slot : AttachThread();
}

// The destructor of exit_key.
void ReleaseAtThreadExit(void* slot);

// A signal handler may fork in the middle of an event; in the child the event goes on, and would be
// booked in the parent's region.
inline bool ForkedMeanwhile() { return counting->load(std::memory_order_relaxed) == 0; }

}  // namespace memprof

// TrackerScope: marks that the calling thread is within a function of events/ or mappings/, and has
// the slot that it counts in.
#pragma once

#include "aggregator/state/counting.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

void GiveSlotBack();

// Lives over one of these functions. Nested: the thread was inside one already.
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

// Gets a slot for a thread that has none; nullptr: there is none now, use the shared cells.
ThreadSlot* AttachThread();

inline ThreadSlot* SlotOf(const TrackerScope& scope) {
  if (scope.nested()) return nullptr;
  return thread_state.slot != nullptr ? thread_state.slot : AttachThread();
}

// The destructor of exit_key.
void ReleaseAtThreadExit(void* slot);

// A thread has a new name; kEveryThread: some thread has.
inline constexpr uint32_t kEveryThread = 0;
void OnThreadRenamed(uint32_t tid);

// A signal handler may fork in the middle of an event. In the child the event would go on and be
// booked in the parent's region.
inline bool ForkedMeanwhile() { return !CountsAnything(); }

}  // namespace memprof

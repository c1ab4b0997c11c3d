// TrackerAccess: lets the calling thread into the tracker without an event: for marks and questions
// of the program (client/).
//
// Thread safety: any thread, also a signal handler. It isn't usable within the tracker itself (a
// handler that interrupted it), in a forked child, or if nothing is counted; then nothing may be
// asked of it. While it lives, changes that the thread had held back from the peak are in the
// ordering word.
#pragma once

#include "aggregator/basics/region.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/tables/segments.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

class TrackerAccess {
 public:
  TrackerAccess();
  ~TrackerAccess();
  TrackerAccess(const TrackerAccess&) = delete;
  TrackerAccess& operator=(const TrackerAccess&) = delete;

  bool usable() const { return usable_; }
  const Region& region() const;
  Segments& segments() const;
  ThreadSlot* slot() const { return slot_; }
  // The thread's allocations and frees so far; zeros if it has none.
  SlotCells::Sums sums() const;
  static const void* this_thread() { return &thread_state; }

 private:
  const uintptr_t before_;
  bool usable_ = false;
  ThreadSlot* slot_ = nullptr;
};

}  // namespace memprof

// TrackerAccess: the calling thread inside the tracker, for what is no event: marks and questions
// of the program (client/).
//
// Thread safety: any thread, also a signal handler. It isn't usable within the tracker itself (a
// handler that interrupted it), in a forked child, or where nothing is counted; then nothing may be
// asked of it. What the thread kept back from the peak is in the word while it lives.
#pragma once

#include "aggregator/region.h"
#include "aggregator/tables/segments.h"
#include "aggregator/tables/thread_slot.h"
#include "aggregator/tracker.h"

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
  // What the thread allocated and freed so far; of none: zeros.
  SlotCells::Sums sums() const;
  static const void* this_thread() { return &thread_state; }

 private:
  const uintptr_t before_;
  bool usable_ = false;
  ThreadSlot* slot_ = nullptr;
};

}  // namespace memprof

// The order of all events (tables/peak_tracker.h), into which each is entered once: before its
// cells are changed.
#pragma once

#include "aggregator/atomics.h"
#include "aggregator/event_log.h"
#include "aggregator/events/tables.h"
#include "aggregator/tables/peak_tracker.h"

namespace memprof {

// The peak or the number of threads has changed, or may have: what a thread may keep back from the
// order.
void UpdateSlack();

uint64_t RecordPeakAmongThreads(ThreadSlot* slot, uint64_t added, uint64_t removed);

// Enters an event into the order of all events. Returns the epoch that its cells belong to.
[[gnu::always_inline]] inline uint64_t RecordPeak(ThreadSlot* slot, uint64_t added,
                                                  uint64_t removed) {
  if (__builtin_expect(OneThread(), 1))
    return PeakTracker(&process_region.header().peak).Record(added, removed);
  return RecordPeakAmongThreads(slot, added, removed);
}

[[gnu::always_inline]] inline uint64_t RecordPeak(ThreadSlot* slot, const Event& event) {
  const LoggedEvent logged(event);
  return RecordPeak(slot, event.bytes, event.freed_bytes);
}

}  // namespace memprof

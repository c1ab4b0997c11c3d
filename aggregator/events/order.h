// The order of all events (tables/peak_tracker.h). Each event is entered into it once, before its
// cells are changed.
#pragma once

#include "aggregator/basics/atomics.h"
#include "aggregator/events/event_log.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/tables/peak_tracker.h"

namespace memprof {

// Call it if the peak or the number of threads may have changed: updates how much a thread may hold
// back from the order.
void UpdateSlack();

// The caller that enters an event, or ends a segment. `slot` may be null.
PeakCaller PeakCallerOf(ThreadSlot* slot);

// For the two states of the process. Both take events that RecordPeak can't enter at once.
uint64_t RecordPeakOfOneThread(uint64_t added, uint64_t removed);
uint64_t RecordPeakAmongThreads(ThreadSlot* slot, uint64_t added, uint64_t removed);

// Enters an event into the order of all events. Returns the epoch for its cells.
[[gnu::always_inline]] inline uint64_t RecordPeak(ThreadSlot* slot, uint64_t added,
                                                  uint64_t removed) {
  if (__builtin_expect(!OneThread(), 0)) return RecordPeakAmongThreads(slot, added, removed);
  uint64_t epoch;
  if (__builtin_expect(
          PeakTracker(&process_region.header().peak).RecordAlone(added, removed, epoch), 1)) {
    return epoch;
  }
  return RecordPeakOfOneThread(added, removed);
}

[[gnu::always_inline]] inline uint64_t RecordPeak(ThreadSlot* slot, const Event& event) {
  const LoggedEvent logged(event);
  return RecordPeak(slot, event.bytes, event.freed_bytes);
}

}  // namespace memprof

#include "aggregator/events/order.h"

namespace memprof {

void UpdateSlack() {
  RegionHeader& header = process_region.header();
  if (header.options.exact_peak != 0) return;
  const uint64_t peak = PeakTracker(&header.peak).Peak();
  const uint32_t threads = slots.count();
  // Stored only where it changes: every thread reads that line at every event.
  const uint64_t slack = PeakSlack(peak, threads);
  if (header.peak_slack.load(std::memory_order_relaxed) != slack) {
    header.peak_slack.store(slack, std::memory_order_relaxed);
  }
  const uint64_t bound = PeakSlackBound(peak, threads);
  // Two that race may leave the smaller one; the next to enter an event mends it.
  if (header.peak_slack_bound.load(std::memory_order_relaxed) < bound) {
    header.peak_slack_bound.store(bound, std::memory_order_relaxed);
  }
}

namespace {

// Apart, so that RecordPeakAmongThreads keeps nothing for it.
[[gnu::noinline]] uint64_t RecordNow(ThreadSlot* slot, uint64_t added, uint64_t removed) {
  PeakTracker tracker(&process_region.header().peak);
  if (slot == nullptr) return tracker.Record(added, removed);
  const uint64_t epoch = tracker.RecordWithKept(slot->pending, added, removed);
  UpdateSlack();
  return epoch;
}

}  // namespace

[[gnu::noinline]] uint64_t RecordPeakAmongThreads(ThreadSlot* slot, uint64_t added,
                                                  uint64_t removed) {
  RegionHeader& header = process_region.header();
  const uint64_t slack = header.peak_slack.load(std::memory_order_relaxed);
  uint64_t epoch;
  if (slot != nullptr &&
      PeakTracker(&header.peak).KeepBack(slot->pending, slack, added, removed, epoch)) {
    return epoch;
  }
  return RecordNow(slot, added, removed);
}

}  // namespace memprof

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

[[gnu::noinline]] uint64_t RecordPeakAmongThreads(ThreadSlot* slot, uint64_t added,
                                                  uint64_t removed) {
  RegionHeader& header = process_region.header();
  PeakTracker tracker(&header.peak);
  if (slot == nullptr || header.options.exact_peak != 0) return tracker.Record(added, removed);
  const uint64_t slack = header.peak_slack.load(std::memory_order_relaxed);
  const auto recorded = tracker.RecordLater(slot->pending, slack, added, removed);
  if (!recorded.kept_back) UpdateSlack();
  return recorded.epoch;
}

}  // namespace memprof

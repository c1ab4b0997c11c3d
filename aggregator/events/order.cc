#include "aggregator/events/order.h"

#include "aggregator/state/counting.h"

namespace memprof {
namespace {

// After a mark the peak is lower, but threads may still hold back what the higher one allowed.
constinit std::atomic<uint64_t> highest_peak{0};

uint64_t HighestPeak(uint64_t peak) {
  uint64_t known = highest_peak.load(std::memory_order_relaxed);
  while (known < peak && !CompareExchange(highest_peak, known, peak)) {
  }
  return known < peak ? peak : known;
}

}  // namespace

void UpdateSlack() {
  RegionHeader& header = process_region.header();
  if (header.options.exact_peak != 0) return;
  const uint64_t peak = PeakTracker(&header.peak).Peak();
  const uint64_t highest = HighestPeak(peak);
  for (;;) {
    // Before the threads are counted, so that what was set for more of them isn't overwritten.
    uint32_t current = header.peak_slack.load();
    const uint32_t threads = slots.count();
    // First, because the thread may be killed after any step.
    const uint64_t bound = PeakSlackBound(highest, threads);
    uint64_t known = header.peak_slack_bound.load(std::memory_order_relaxed);
    while (known < bound && !CompareExchange(header.peak_slack_bound, known, bound)) {
    }
    // Written only if it changes: every thread reads that line at every event.
    const uint32_t slack = PeakSlack(peak, threads);
    if (current == slack) return;
    // New threads may come meanwhile. The exchange and fetch_add (SlotTable) are in one order: either
    // they are seen here, or their own UpdateSlack sees this store. (If this thread stops before the
    // exchange, the slack becomes another and the same again, and it stops once more behind it, theirs
    // is too large until the next update.)
    if (header.peak_slack.compare_exchange_strong(current, slack) && slots.count() == threads) {
      return;
    }
  }
}

PeakCaller PeakCallerOf(ThreadSlot* slot) {
  if (slot == nullptr) return {};
  // A child that counts in its parent's region by mistake (fork/forked_child.cc) begins nothing
  // there: the parent's slot may do so at the same time.
  return {&slot->peak, slot->number, slots.count(), !OneThread() && CountsAnything()};
}

namespace {

// A function of its own, so that RecordPeakAmongThreads saves no register for it.
[[gnu::noinline]] uint64_t RecordNow(ThreadSlot* slot, uint64_t added, uint64_t removed) {
  PeakTracker tracker(PeakPlaceOf(process_region));
  if (slot == nullptr) return tracker.Record(added, removed);
  uint64_t epoch;
  // While the word is far, events only read it.
  if (!slot->peak.found_far) tracker.Fetch();
  if (slot->peak.found_far || slot->pending != 0 ||
      !tracker.RecordStayingNear(added, removed, epoch)) {
    epoch = tracker.RecordWithKept(PeakCallerOf(slot), slot->pending, added, removed);
  }
  // Only an allocation raises the peak. A rise because of changes that were held back is seen at
  // the next one.
  if (added > removed) UpdateSlack();
  return epoch;
}

}  // namespace

[[gnu::noinline]] uint64_t RecordPeakOfOneThread(uint64_t added, uint64_t removed) {
  uint64_t epoch;
  if (PeakTracker(&process_region.header().peak).RecordNear(added, removed, epoch)) return epoch;
  return PeakTracker(PeakPlaceOf(process_region)).Record(added, removed);
}

[[gnu::noinline]] uint64_t RecordPeakAmongThreads(ThreadSlot* slot, uint64_t added,
                                                  uint64_t removed) {
  uint64_t epoch;
  if (slot != nullptr) {
    std::atomic<uint64_t>& account =
        process_region.peak_accounts()[AccountOfSlot(slot->number)].account;
    if (PeakTracker::RecordInAccount(account, slot->peak, added, removed, epoch)) return epoch;
    RegionHeader& header = process_region.header();
    const uint64_t slack = header.peak_slack.load(std::memory_order_relaxed);
    if (PeakTracker(&header.peak).KeepBack(slot->pending, slack, added, removed, epoch)) {
      return epoch;
    }
  }
  return RecordNow(slot, added, removed);
}

}  // namespace memprof

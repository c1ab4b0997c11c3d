#include "aggregator/events/sampled_events.h"

#include "aggregator/events/book_event.h"
#include "aggregator/events/event_cell.h"
#include "aggregator/events/inherited_heap.h"
#include "aggregator/events/order.h"
#include "aggregator/events/sampler.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/statistics/allocator_statistics.h"

namespace memprof {
namespace {

// The thread's last sample, and the countdown after it: as long as the countdown is the same, the
// thread has allocated nothing since.
struct LastSample {
  uintptr_t address;
  int64_t countdown;
  uint32_t cell;
};
thread_local constinit LastSample last_sample __attribute__((tls_model("initial-exec"))) = {};

// The filter knows an address as long as the live map does.
bool KeepSample(void* address, const Block& block) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  samples_filter->Add(at);
  if (live.Insert(at, block)) return true;
  samples_filter->Remove(at);
  return false;
}
bool TakeSample(void* address, Block* block) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (!live.Remove(at, block)) return false;
  samples_filter->Remove(at);
  return true;
}
// The same for a sample from before the fork.
bool TakeInheritedSample(void* address, Block* block) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (!TakeInherited(at, block)) return false;
  samples_filter->Remove(at);
  return true;
}
bool PutBackInheritedSample(void* address, const Block& block) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  samples_filter->Add(at);
  if (PutBackInherited(at, block)) return true;
  samples_filter->Remove(at);
  return false;
}

// True if the thread allocated nothing between this sample and its free. While sampling the
// threshold is 1. (A realloc(p, 0) and one that fails also take their step of the countdown: their
// block is not temporary then.)
bool IsTemporarySample(void* address, uint32_t cell) {
  return last_sample.address == reinterpret_cast<uintptr_t>(address) && last_sample.cell == cell &&
         last_sample.countdown == thread_state.countdown;
}

void BookSampleFree(ThreadSlot* slot, uint64_t kept_size, uint32_t cell, bool temporary = false) {
  if (ForkedMeanwhile()) return;
  const Where where = CellForFree(slot, cell);
  const SampleWeight weight = WeightOfKept(kept_size);
  if (WatchesThreads()) WatchFreed(cell, weight.bytes);
  BookFreed(where, RecordPeak(slot, 0, weight.bytes), weight, [=] { return temporary; });
}

}  // namespace

void OnSampled(void* address, size_t size, const Caller& caller) {
  OnSampleReallocated({}, address, size, true, caller);
}

void OnSampleFree(void* address) {
  const TrackerScope scope;
  Block block;
  if (!TakeSample(address, &block)) {
    if (TakeInheritedSample(address, &block)) BookInheritedFree(SlotOf(scope), block.size);
    return;
  }
  BookSampleFree(SlotOf(scope), block.size, block.cell, IsTemporarySample(address, block.cell));
}

ClaimedBlock ClaimSample(void* address) {
  const TrackerScope scope;
  Block block = {};
  if (TakeSample(address, &block)) return {fork_generation, block.size, block.cell};
  const bool inherited = TakeInheritedSample(address, &block);
  return {inherited ? fork_generation - 1 : 0, block.size, block.cell};
}

void OnSampleReallocated(const ClaimedBlock& claimed, void* address, size_t size, bool sampled,
                         const Caller& caller) {
  if (!sampled) {
    OnSampleReallocFreed(claimed);
    return;
  }
  // For a block from before a fork the free comes first, so that the two are never live together.
  const bool inherited = claimed.known != 0 && !OfThisGeneration(claimed);
  if (inherited) BookInheritedFree(claimed.size);
  const ClaimedBlock old = inherited ? ClaimedBlock{} : claimed;
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const Where to = CellForSample(slot, size, caller);
  AnswerReader(caller.registers);
  if (ForkedMeanwhile()) return;
  last_sample = {reinterpret_cast<uintptr_t>(address), thread_state.countdown, to.cell()};
  const uint64_t kept_size = KeptSize(size);
  if (!KeepSample(address, {kept_size, to.cell()})) {
    Count(process_region.header().dropped_events);
    if (old.known) BookSampleFree(slot, old.size, old.cell);
    return;
  }
  const Where from = old.known != 0 ? CellForFree(slot, old.cell) : to;
  const bool frees = old.known != 0;
  const SampleWeight added = WeightOfKept(kept_size);
  const SampleWeight removed = frees ? WeightOfKept(old.size) : SampleWeight{};
  if (WatchesThreads()) {
    if (frees) {
      WatchReallocated(slot, added.bytes, old.cell, removed.bytes);
    } else {
      WatchAllocated(slot, added.bytes);
    }
  }
  // the two are never live together
  const uint64_t epoch = RecordPeak(slot, added.bytes, removed.bytes);
  if (frees) BookFreed(from, epoch, removed, IsNotTemporary);
  BookAllocated(to, epoch, added);
}

void OnSampleReallocFreed(const ClaimedBlock& old) {
  if (!OfThisGeneration(old)) {
    if (old.known != 0) BookInheritedFree(old.size);
    return;
  }
  const TrackerScope scope;
  BookSampleFree(SlotOf(scope), old.size, old.cell);
}

void OnSampleReallocFailed(const ClaimedBlock& old, void* address) {
  if (!OfThisGeneration(old)) {
    const bool back = old.known == 0 || PutBackInheritedSample(address, {old.size, 0});
    if (!back) BookInheritedFree(old.size);
    return;
  }
  const TrackerScope scope;
  // A new countdown may happen to equal the one at the sample.
  if (last_sample.address == reinterpret_cast<uintptr_t>(address)) last_sample = {};
  if (KeepSample(address, {old.size, old.cell})) return;
  Count(process_region.header().dropped_events);
  BookSampleFree(SlotOf(scope), old.size, old.cell);
}

}  // namespace memprof

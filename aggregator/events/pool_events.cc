#include "aggregator/events/pool_events.h"

#include "aggregator/events/book_event.h"
#include "aggregator/events/claimed_block.h"
#include "aggregator/events/event_cell.h"
#include "aggregator/events/event_log.h"
#include "aggregator/events/heap_events.h"
#include "aggregator/events/inherited_heap.h"
#include "aggregator/events/order.h"
#include "aggregator/events/sampled_events.h"
#include "aggregator/events/sampler.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/tables/inherited_blocks.h"

namespace memprof {
namespace {

// separate, because a pool's block may have the same address as its arena
constinit LiveMap pool_blocks;

enum class PoolState : uint32_t { kNone, kStarting, kReady, kNoMemory };
constinit std::atomic<PoolState> pool_state{PoolState::kNone};
constexpr size_t kMaxPoolBlocks = size_t{1} << 28;

// The map of the pools' blocks is made with the first block.
bool PoolsReady() {
  PoolState now = pool_state.load(std::memory_order_acquire);
  if (now == PoolState::kNone &&
      pool_state.compare_exchange_strong(now, PoolState::kStarting, std::memory_order_acq_rel)) {
    now = pool_blocks.Init(kMaxPoolBlocks) ? PoolState::kReady : PoolState::kNoMemory;
    pool_state.store(now, std::memory_order_release);
  }
  return now == PoolState::kReady;
}

// The log needs another address than that of an arena, which is even.
const void* LoggedPoolAddress(uintptr_t at) { return reinterpret_cast<const void*>(at + 1); }

// Only Sampling() decides whether a block is a sample: it may be freed while counting is stopped.
SampleWeight PoolWeight(uint64_t kept_size) {
  return Sampling() ? WeightOfKept(kept_size) : SampleWeight{kept_size, 1};
}

void BookPoolFree(ThreadSlot* slot, uintptr_t at, const Block& block) {
  const Where where = CellForFree(slot, block.cell);
  const SampleWeight weight = PoolWeight(block.size);
  if (WatchesThreads()) WatchFreed(block.cell, weight.bytes);
  const Event event = {.kind = EventKind::kFreed,
                       .address = LoggedPoolAddress(at),
                       .freed_bytes = weight.bytes,
                       .freed_cell = where.cell()};
  const bool temporary = !Sampling() && IsTemporary(reinterpret_cast<void*>(at), block.cell);
  BookFreed(where, RecordPeak(slot, event), weight, [=] { return temporary; });
}

}  // namespace

const LiveMap& PoolBlocks() { return pool_blocks; }

void OnPoolAllocated(const void* address, size_t size, const Caller& caller) {
  const TrackerScope scope;
  const auto at = reinterpret_cast<uintptr_t>(address);
  ThreadSlot* slot = SlotOf(scope);
  if (ForkedMeanwhile()) return;
  if (!PoolsReady()) {
    Count(process_region.header().dropped_events);
    return;
  }
  // A pool may drop all its blocks at once without reporting it.
  Block before;
  if (pool_blocks.Remove(at, &before)) BookPoolFree(slot, at, before);
  const bool samples = Sampling();
  if (samples && !TakesSample(size)) return;
  const Where where = samples ? CellForSample(slot, size, caller) : CellForAllocation(slot, caller);
  const uint64_t kept_size = samples ? KeptSize(size) : size;
  if (!pool_blocks.Insert(at, {kept_size, where.cell()})) {
    Count(process_region.header().dropped_events);
    return;
  }
  const SampleWeight weight = PoolWeight(kept_size);
  if (WatchesThreads()) WatchAllocated(slot, weight.bytes);
  const Event event = {.kind = EventKind::kAllocated,
                       .address = LoggedPoolAddress(at),
                       .bytes = weight.bytes,
                       .cell = where.cell(),
                       .stack = slot != nullptr ? &slot->stack : nullptr,
                       .allocator = caller.kind};
  const uint64_t epoch = RecordPeak(slot, event);
  if (samples) {
    BookAllocated(where, epoch, weight);
    return;
  }
  NoteAllocation(reinterpret_cast<void*>(at), where.cell());
  BookAllocated(where, epoch, size);
}

void OnPoolFree(const void* address) {
  const TrackerScope scope;
  const auto at = reinterpret_cast<uintptr_t>(address);
  ThreadSlot* slot = SlotOf(scope);
  if (ForkedMeanwhile()) return;
  Block block;
  if (pool_state.load(std::memory_order_acquire) == PoolState::kReady &&
      pool_blocks.Remove(at, &block)) {
    BookPoolFree(slot, at, block);
  } else if (!FreeInheritedOfPool(slot, at) && CountsAll()) {
    Count(process_region.header().unknown_frees);
    if (ForgotInherited()) Count(process_region.header().dropped_events);
  }
}

// Whatever another thread had begun here ends with the fork.
void RestartPools(InheritedBlocks& inherited) {
  if (pool_state.exchange(PoolState::kNone) == PoolState::kReady) inherited.Push(pool_blocks);
}

void EndLeftSplitOfPools() {
  if (pool_state.load(std::memory_order_acquire) == PoolState::kReady) pool_blocks.EndLeftSplit();
}

void OnPoolArena(void* address) {
  const bool samples = Sampling();
  const ClaimedBlock old = samples ? ClaimSample(address) : ClaimForRealloc(address);
  if (samples) OnSampleReallocFreed(old);
  if (samples || old.known == 0) return;
  // from before a fork: its bytes belong to the pool's blocks now
  if (old.known != fork_generation) {
    BookInheritedFree(old.size);
    return;
  }
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  if (ForkedMeanwhile()) return;
  const Where where = CellForFree(slot, old.cell);
  if (!live.Insert(reinterpret_cast<uintptr_t>(address), {0, where.cell()})) {
    Count(process_region.header().dropped_events);
    return;
  }
  if (WatchesThreads()) WatchFreed(old.cell, old.size);
  const uint32_t site = SiteOfCell(process_region, where.cell());
  // Other processes may write the cell of a forked child.
  const uint32_t known = site < process_region.capacity(Table::kSites) ? site : 0;
  const Event event = {.kind = EventKind::kReallocated,
                       .address = address,
                       .cell = where.cell(),
                       .allocator = static_cast<AllocatorKind>(
                           KindOf(process_region.Records<SiteRecord>(Table::kSites)[known].label)),
                       .freed_bytes = old.size,
                       .freed_cell = where.cell()};
  const uint64_t epoch = RecordPeak(slot, event);
  BookFreed(where, epoch, {old.size, 1}, IsNotTemporary);
  BookAllocated(where, epoch, 0);
}

}  // namespace memprof

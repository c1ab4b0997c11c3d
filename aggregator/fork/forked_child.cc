#include "aggregator/fork/forked_child.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggregator/counting_mode.h"
#include "aggregator/event_log.h"
#include "aggregator/events/book_event.h"
#include "aggregator/events/order.h"
#include "aggregator/events/tables.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/fork/child_slot.h"
#include "aggregator/fork/inherited_blocks.h"
#include "aggregator/mappings/mappings.h"
#include "aggregator/monotonic_clock.h"
#include "aggregator/nested_stack.h"
#include "aggregator/private_memory.h"
#include "aggregator/sampler.h"
#include "aggregator/statistics/allocator_statistics.h"
#include "aggregator/system_calls.h"
#include "aggregator/unsupervised/region_maker.h"

namespace memprof {

constinit uint32_t fork_generation = 1;

namespace {

constexpr size_t kMaxLiveBlocksOfChild = size_t{1} << 28;

constinit InheritedBlocks inherited;
constinit InheritedBlocks inherited_of_pools;
constinit uint32_t inherited_site = 0;

// Of the calls of fork() that are being made. In a child of one there is at least its own.
constinit std::atomic<uint32_t> forks_now{0};
constinit std::atomic<int64_t> heap_at_fork{0};

// The low half of the word alone: the parent may be changing it (region_layout.h, Pack).
int64_t HeapNow() {
  const uint64_t low = __atomic_load_n(&process_region.header().peak.low, __ATOMIC_RELAXED);
  return static_cast<int64_t>(low & kPeakMaxBytes) - kPeakBias;
}

void BeforeFork() {
  if (counting->load(std::memory_order_relaxed) == 0) return;
  heap_at_fork.store(HeapNow(), std::memory_order_relaxed);
  forks_now.fetch_add(1, std::memory_order_relaxed);
}
void AfterForkInParent() {
  if (forks_now.load(std::memory_order_relaxed) != 0) forks_now.fetch_sub(1);
}

bool ChildrenCount() { return FollowsChildren() || MakesRegionsOfChildren(); }

MappedRegion RegionOfChild(const Region& parent) {
  return FollowsChildren() ? ClaimChildSlot(parent.header().options) : MakeRegionOfChild(parent);
}

// The forking thread is the one thread of the child, and so its first.
bool IsForkingThread() { return SystemCallsFiltered() || syscall(SYS_gettid) == getpid(); }

bool RestartTables(RegionHeader& header) {
  inherited.Push(live);
  RestartPools(inherited_of_pools);
  segments.Restart();
  shared_cells.Restart();
  ForgetNestedStacks();
  const bool fine = stacks.Restart() && slot_cells.Restart() &&
                    shared_cells.Find(kTablesFullSite) != kNoCell &&
                    live.Init(kMaxLiveBlocksOfChild);
  if (fine) inherited_site = stacks.NewRow(kPcInherited);
  ReseedSampler(header.pid);
  RestartMappings();
  allocator_answered.store(0, std::memory_order_relaxed);
  PublishPrivateBytes(&header.private_bytes);
  return fine;
}

// In the row [inherited at fork]: bytes alone, how many blocks they are isn't known.
[[gnu::noinline, gnu::cold]] void BookInheritedRow(ThreadSlot* slot, uint64_t added,
                                                   uint64_t removed) {
  RegionHeader& header = process_region.header();
  const Where where = CellOfSite(slot, inherited_site);
  if (where.none()) {
    Count(header.dropped_events);
    return;
  }
  const uint64_t epoch = RecordPeak(slot, added, removed);
  Cell& cell = CellAt(process_region, where.cell());
  if (where.own()) {
    BookBytes(cell, epoch, added, removed);
    return;
  }
  BookShared(cell, epoch, {.allocated_bytes = added, .freed_bytes = removed});
  Count(header.shared_bytes, added + removed);
}

void BookInheritedHeap(uint64_t bytes) {
  const TrackerScope scope;
  BookInheritedRow(SlotOf(scope), bytes, 0);
}

}  // namespace

void WatchForks() {
  if (ChildrenCount()) pthread_atfork(BeforeFork, AfterForkInParent, nullptr);
}

bool StartCountingInChild() {
  if (!ChildrenCount() || !IsForkingThread()) return false;
  const Region parent = process_region;
  const int64_t heap = forks_now.exchange(0) != 0 ? heap_at_fork.load() : HeapNow();
  const MappedRegion mapped = RegionOfChild(parent);
  if (mapped.base == nullptr) return false;
  if (!process_region.Attach(mapped.base, mapped.bytes)) {
    if (FollowsChildren()) GiveUpChildSlot();
    return false;
  }
  DescribeChild(parent, process_region);
  ++fork_generation;
  CloseEventLog();
  RegionHeader& header = process_region.header();
  header.pid = SystemCallsFiltered() ? kUnknownPid : static_cast<uint32_t>(getpid());
  // A clock may be a system call.
  header.started_ns = SystemCallsFiltered() ? 0 : MonotonicNs();
  thread_state.last = {};
  const int64_t pending = slots.ForgetThreads(thread_state.slot);
  const bool fine = RestartTables(header);
  if (fine && thread_state.slot != nullptr && !SystemCallsFiltered()) {
    thread_state.slot->owner.store(header.pid, std::memory_order_relaxed);  // it is the first one
  }
  header.stop_reason.store(static_cast<uint32_t>(fine ? StopReason::kNone : StopReason::kNoMemory),
                           std::memory_order_relaxed);
  if (fine) BookInheritedHeap(heap + pending > 0 ? static_cast<uint64_t>(heap + pending) : 0);
  header.state.store(static_cast<uint32_t>(fine ? TrackerState::kCounting : TrackerState::kStopped),
                     std::memory_order_release);
  return fine;
}

// --- blocks of before the fork -------------------------------------------------------------------

bool TakeInherited(uintptr_t address, Block* block) { return inherited.Take(address, block); }
bool PutBackInherited(uintptr_t address, const Block& block) {
  return inherited.PutBack(address, block);
}

void BookInheritedFree(ThreadSlot* slot, uint64_t kept_size) {
  if (ForkedMeanwhile()) return;
  BookInheritedRow(slot, 0, Sampling() ? WeightOfKept(kept_size).bytes : kept_size);
}
void BookInheritedFree(uint64_t kept_size) {
  const TrackerScope scope;
  BookInheritedFree(SlotOf(scope), kept_size);
}

bool FreeInherited(ThreadSlot* slot, uintptr_t address) {
  Block block;
  if (inherited.empty() || !inherited.Take(address, &block)) return false;
  BookInheritedFree(slot, block.size);
  return true;
}

bool FreeInheritedOfPool(ThreadSlot* slot, uintptr_t address) {
  Block block;
  if (inherited_of_pools.empty() || !inherited_of_pools.Take(address, &block)) return false;
  BookInheritedFree(slot, block.size);
  return true;
}

}  // namespace memprof

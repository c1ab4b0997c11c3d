#include "aggregator/fork/forked_child.h"

#include "aggregator/counting_mode.h"
#include "aggregator/event_log.h"
#include "aggregator/events/book_event.h"
#include "aggregator/events/order.h"
#include "aggregator/events/tables.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/fork/child_slot.h"
#include "aggregator/fork/inherited_blocks.h"
#include "aggregator/kernel_calls.h"
#include "aggregator/libc_functions.h"
#include "aggregator/mappings/mappings.h"
#include "aggregator/monotonic_clock.h"
#include "aggregator/nested_stack.h"
#include "aggregator/private_memory.h"
#include "aggregator/sampler.h"
#include "aggregator/statistics/allocator_statistics.h"
#include "aggregator/system_call_filters.h"
#include "aggregator/unsupervised/region_maker.h"

namespace memprof {

constinit uint32_t fork_generation = 1;

// Written by the forking thread, in the child, before there is another one there.
struct ForkNote {
  bool by_fork;      // there is one
  bool in_tracker;   // the forking thread was within the tracker
  ThreadSlot* slot;  // its own; nullptr: it had none
};
static_assert(sizeof(ForkNote) <= kForkNoteBytes);

namespace {

constexpr size_t kMaxLiveBlocksOfChild = size_t{1} << 28;

constinit InheritedBlocks inherited;
constinit InheritedBlocks inherited_of_pools;
constinit uint32_t inherited_site = 0;

// How many calls of fork() are being made. In a child of one there is at least its own.
constinit std::atomic<uint32_t> forks_now{0};
constinit std::atomic<int64_t> heap_at_fork{0};

constinit TrackerOptions options = {};
constinit ForkNote* fork_note = nullptr;
constinit uint32_t forking_pid = 0;
constinit std::atomic<uint64_t> dropped_before_start{0};
constinit std::atomic<bool> said_unfollowed{false};  // this child may never count

// The low half of the word alone: the parent may be changing it (region_layout.h, Pack). 0: the
// parent is gone.
int64_t HeapNow() {
  if (!HasParentsRegion()) return 0;
  const uint64_t low = __atomic_load_n(&process_region.header().peak.low, __ATOMIC_RELAXED);
  return static_cast<int64_t>(low & kPeakMaxBytes) - kPeakBias;
}

bool MadeByFork() { return fork_note != nullptr && fork_note->by_fork; }

// Pids are the supervisor's as long as each process from its visitor on was made by fork() and sees
// its parent: in a new namespace the parent is 0, and what a namespace's first process forks is
// seen only if that one was. A parent that is gone already is a doubt as well, and costs but a
// search.
void BeforeFork() {
  SystemCallsFilteredByNow();
  if (!SystemCallsFiltered()) forking_pid = kernel::Pid();
  if (counting->load(std::memory_order_relaxed) == 0) {
    if (!MadeByFork()) DoubtPids();
    return;
  }
  heap_at_fork.store(HeapNow(), std::memory_order_relaxed);
  forks_now.fetch_add(1, std::memory_order_relaxed);
}
void AfterForkInParent() {
  if (forks_now.load(std::memory_order_relaxed) != 0) forks_now.fetch_sub(1);
}

void AfterForkInChild() {
  dropped_before_start.store(0, std::memory_order_relaxed);
  said_unfollowed.store(false, std::memory_order_relaxed);
  if (SystemCallsFiltered() || kernel::Call(SYS_getppid) != long{forking_pid}) DoubtPids();
  if (fork_note == nullptr) return;
  const bool in_tracker = (thread_state.scope & kInTracker) != 0;
  *fork_note = {true, in_tracker, thread_state.slot};
  // The event that the signal handler interrupted ends in this process too, where it would book
  // itself in the parent's region once more.
  if (!in_tracker || !HasParentsRegion()) return;
  if (!SystemCallsFiltered() && MakePrivateCopy(&process_region.header(), process_region.bytes())) {
    return;
  }
  // It may be booked twice: the parent is told that it isn't exact.
  Count(process_region.header().dropped_events);
  // The cell of its last allocation is the parent's.
  thread_state.last = {};
}

bool ChildrenCount() { return FollowsChildren() || MakesRegionsOfChildren(); }

MappedRegion RegionOfChild(const Region& parent) {
  return FollowsChildren() ? ClaimChildSlot(options) : MakeRegionOfChild(parent);
}

// The forking thread is the first of the child.
bool IsForkingThread() { return SystemCallsFiltered() || kernel::Tid() == kernel::Pid(); }

bool RestartTables(RegionHeader& header) {
  inherited.Push(live);
  RestartPools(inherited_of_pools);
  segments.Restart();
  ForgetNestedStacks();
  const bool fine = stacks.Restart() && slot_cells.Restart() && live.Init(kMaxLiveBlocksOfChild);
  if (fine) inherited_site = stacks.NewRow(kPcInherited);
  ReseedSampler(header.pid);
  RestartMappings();
  allocator_answered.store(0, std::memory_order_relaxed);
  return fine;
}

// In the row [inherited at fork]: bytes alone, how many blocks they are isn't known.
[[gnu::noinline, gnu::cold]] void BookInheritedRow(ThreadSlot* slot, uint64_t added,
                                                   uint64_t removed) {
  RegionHeader& header = process_region.header();
  const Where where = CellOfSite(slot, inherited_site);
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

void PrepareForForks(void* wiped, const TrackerOptions& of_this_process) {
  fork_note = static_cast<ForkNote*>(wiped);
  options = of_this_process;
}

void WatchForks() {
  if (ChildrenCount()) AtFork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

bool MayStartCountingInChild() {
  if (!ChildrenCount() || (MadeByFork() && !fork_note->in_tracker) || IsForkingThread())
    return true;
  if (!said_unfollowed.exchange(true, std::memory_order_relaxed)) CountUnfollowed(1);
  return false;
}

// Pairs with BookDroppedBeforeStart: the event is counted before it is looked whether the child
// counts, and there the other way round, so one of the two finds it.
void DropEventBeforeStart() {
  dropped_before_start.fetch_add(1, std::memory_order_seq_cst);
  if (counting->load(std::memory_order_seq_cst) != 0) BookDroppedBeforeStart();
}
void BookDroppedBeforeStart() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (dropped_before_start.load(std::memory_order_relaxed) == 0) return;
  const uint64_t dropped = dropped_before_start.exchange(0, std::memory_order_seq_cst);
  process_region.header().dropped_events.fetch_add(dropped, std::memory_order_relaxed);
}

bool StartCountingInChild() {
  if (!ChildrenCount()) return false;
  const Region parent = process_region;
  const int64_t heap = forks_now.exchange(0) != 0 ? heap_at_fork.load() : HeapNow();
  if (!MadeByFork()) DoubtPids();
  const MappedRegion mapped = RegionOfChild(parent);
  if (mapped.base == nullptr) return false;
  if (!process_region.Attach(mapped.base, mapped.bytes)) {
    if (FollowsChildren()) GiveUpChildSlot();
    return false;
  }
  // First of all, or what the tables give back and take would be booked in the parent's region.
  PublishPrivateBytes(&process_region.header().private_bytes);
  if (said_unfollowed.exchange(false, std::memory_order_relaxed)) CountUnfollowed(-1);
  DescribeChild(parent, process_region);
  ++fork_generation;
  CloseEventLog();
  RegionHeader& header = process_region.header();
  header.pid = SystemCallsFiltered() ? kUnknownPid : kernel::Pid();
  // A clock may be a system call.
  header.started_ns = SystemCallsFiltered() ? 0 : MonotonicNs();
  thread_state.last = {};
  // The forking thread keeps its slot, whoever starts.
  ThreadSlot* const forking = MadeByFork() ? fork_note->slot : thread_state.slot;
  const int64_t pending = slots.ForgetThreads(forking);
  const bool fine = RestartTables(header);
  if (fine && forking != nullptr && !SystemCallsFiltered()) {
    uint32_t owner = forking->owner.load(std::memory_order_relaxed);
    // Not if it has ended meanwhile.
    if (owner != 0) forking->owner.compare_exchange_strong(owner, header.pid);
  }
  header.stop_reason.store(static_cast<uint32_t>(fine ? StopReason::kNone : StopReason::kNoMemory),
                           std::memory_order_relaxed);
  if (fine) BookInheritedHeap(heap + pending > 0 ? static_cast<uint64_t>(heap + pending) : 0);
  header.state.store(static_cast<uint32_t>(fine ? TrackerState::kCounting : TrackerState::kStopped),
                     std::memory_order_release);
  return fine;
}

// --- blocks of before the fork -------------------------------------------------------------------

bool ForgotInherited() { return inherited.forgot() || inherited_of_pools.forgot(); }

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

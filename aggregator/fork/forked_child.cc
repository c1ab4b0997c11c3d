#include "aggregator/fork/forked_child.h"

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/monotonic_clock.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/basics/region.h"
#include "aggregator/basics/system_call_filters.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/events/event_log.h"
#include "aggregator/events/heap_places.h"
#include "aggregator/events/inherited_heap.h"
#include "aggregator/events/python_frames.h"
#include "aggregator/events/sampler.h"
#include "aggregator/fork/child_slot.h"
#include "aggregator/mappings/mappings.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/statistics/allocator_statistics.h"
#include "aggregator/tables/slot_owners.h"
#include "aggregator/unsupervised/region_maker.h"
#include "aggregator/unwind/nested_stack.h"

namespace memprof {

// Written by the forking thread in the child, before another thread exists there.
struct ForkNote {
  bool by_fork;      // the note is valid
  bool in_tracker;   // the forking thread was within the tracker
  ThreadSlot* slot;  // its slot; nullptr: it had none
};
static_assert(sizeof(ForkNote) <= kForkNoteBytes);

namespace {

constexpr size_t kMaxLiveBlocksOfChild = size_t{1} << 28;

// The number of calls of fork() in progress. In the child of one there is at least its own.
constinit std::atomic<uint32_t> forks_now{0};
constinit std::atomic<int64_t> heap_at_fork{0};

constinit TrackerOptions options = {};
constinit ForkNote* fork_note = nullptr;
constinit uint32_t forking_pid = 0;
constinit std::atomic<uint64_t> dropped_before_start{0};
constinit std::atomic<bool> said_unfollowed{false};  // this child may never start to count

// The parent may go on counting meanwhile. 0: it is gone.
int64_t HeapNow() {
  if (!HasParentsRegion()) return 0;
  const int64_t heap = PeakTracker(PeakPlaceOf(process_region)).Current();
  // Its region may have become another process's meanwhile.
  return HasParentsRegion() ? heap : 0;
}

bool MadeByFork() { return fork_note != nullptr && fork_note->by_fork; }

// Pids are the supervisor's as long as each process from its visitor on was made by fork() and sees
// its parent. In a new pid namespace getppid() is 0 for the first process, and that process's own
// children are recognised only through it. A parent that has ended also gives a doubt, which costs
// no more than a search.
void BeforeFork() {
  SystemCallsFilteredByNow();
  if (!SystemCallsFiltered()) forking_pid = kernel::Pid();
  if (!CountsAnything()) {
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
  // The event that the signal handler interrupted ends in this process too, and would book itself
  // in the parent's region a second time.
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

// The forking thread is the child's first thread.
bool IsForkingThread() { return SystemCallsFiltered() || kernel::Tid() == kernel::Pid(); }

bool RestartTables(RegionHeader& header) {
  InheritBlocks();
  segments.Restart();
  ForgetNestedStacks();
  const bool fine = stacks.Restart() && slot_cells.Restart() && live.Init(kMaxLiveBlocksOfChild);
  if (fine) MakeInheritedRow();
  ReseedSampler(header.pid);
  RestartMappings();
  RestartPython();
  allocator_answered.store(0, std::memory_order_relaxed);
  return fine;
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

// Pairs with BookDroppedBeforeStart. Here the event is counted before the check whether the child
// counts; there the order is reversed. So one of the two finds it.
void DropEventBeforeStart() {
  dropped_before_start.fetch_add(1, std::memory_order_seq_cst);
  if (counting->load(std::memory_order_seq_cst) != CountingMode::kNone) BookDroppedBeforeStart();
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
  // First of all: otherwise the memory that the tables give back and take would be booked in the
  // parent's region.
  PublishPrivateBytes(&process_region.header().private_bytes);
  if (said_unfollowed.exchange(false, std::memory_order_relaxed)) CountUnfollowed(-1);
  DescribeChild(parent, process_region);
  ++fork_generation;
  CloseEventLog();
  RegionHeader& header = process_region.header();
  header.pid = SystemCallsFiltered() ? kUnknownPid : kernel::Pid();
  // Reading the clock may be a system call.
  header.started_ns = SystemCallsFiltered() ? 0 : MonotonicNs();
  thread_state.last = {};
  // The forking thread keeps its slot, whichever thread starts.
  ThreadSlot* const forking = MadeByFork() ? fork_note->slot : thread_state.slot;
  const int64_t pending = slots.ForgetThreads(forking);
  const bool fine = RestartTables(header);
  if (fine && forking != nullptr && !SystemCallsFiltered()) {
    uint32_t owner = forking->owner.load(std::memory_order_relaxed);
    // Fails if that thread has ended meanwhile.
    if (owner != 0) forking->owner.compare_exchange_strong(owner, header.pid);
  }
  // Its owner stays unknown to the reader, who asks about other threads than the first.
  if (fine && forking != nullptr) NoteTaken(process_region, *forking);
  header.stop_reason.store(static_cast<uint32_t>(fine ? StopReason::kNone : StopReason::kNoMemory),
                           std::memory_order_relaxed);
  if (fine) PublishHeapPlaces();
  if (fine) BookInheritedHeap(heap + pending > 0 ? static_cast<uint64_t>(heap + pending) : 0);
  header.state.store(static_cast<uint32_t>(fine ? TrackerState::kCounting : TrackerState::kStopped),
                     std::memory_order_release);
  return fine;
}

}  // namespace memprof

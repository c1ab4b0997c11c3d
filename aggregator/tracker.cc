#include "aggregator/tracker.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggregator/atomics.h"
#include "aggregator/booking.h"
#include "aggregator/errno_guard.h"
#include "aggregator/life.h"
#include "aggregator/live_map.h"
#include "aggregator/module_table.h"
#include "aggregator/nested_stack.h"
#include "aggregator/peak_tracker.h"
#include "aggregator/shared_cells.h"
#include "aggregator/stack_table.h"
#include "aggregator/thread_slot.h"

namespace memprof {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

namespace {

// All constant-initialised and without destructors: usable before our constructor and after exit.
constinit Region region;
constinit ModuleTable modules{region};
constinit StackTable stacks{region, modules};
constinit LiveMap live;
constinit SlotTable slots;
constinit SharedCells shared_cells{region};
constinit std::atomic<bool> filtered{false};
pthread_key_t exit_key;

constexpr size_t kMaxLiveBlocks = size_t{1} << 31;

// Over one of the functions of tracker.h. Nested: the thread was inside one already.
class TrackerScope {
 public:
  TrackerScope() : before_(thread_state.flags) {
    thread_state.flags = before_ | kInTracker;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~TrackerScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_state.flags = before_;
  }
  TrackerScope(const TrackerScope&) = delete;
  TrackerScope& operator=(const TrackerScope&) = delete;

  bool nested() const { return (before_ & kInTracker) != 0; }

 private:
  const uint32_t before_;
};

// The peak or the number of threads has changed.
void UpdateSlack() {
  RegionHeader& header = region.header();
  const uint64_t peak = PeakTracker(&header.peak).Peak();
  const uint32_t threads = slots.count();
  header.peak_slack.store(PeakSlack(peak, threads), std::memory_order_relaxed);
  const uint64_t bound = PeakSlackBound(peak, threads);
  // Two that race may leave the smaller one; the next to enter an event mends it.
  if (header.peak_slack_bound.load(std::memory_order_relaxed) < bound) {
    header.peak_slack_bound.store(bound, std::memory_order_relaxed);
  }
}

[[gnu::noinline]] uint64_t RecordPeakAmongThreads(ThreadSlot* slot, uint64_t added,
                                                  uint64_t removed) {
  RegionHeader& header = region.header();
  PeakTracker tracker(&header.peak);
  if (slot == nullptr || header.exact_peak != 0) return tracker.Record(added, removed);
  const uint64_t slack = header.peak_slack.load(std::memory_order_relaxed);
  const uint64_t epoch = tracker.RecordLater(slot->pending, slack, added, removed);
  if (slot->pending == 0) UpdateSlack();
  return epoch;
}

// Enters an event into the order of all events. Returns the epoch that its cells belong to.
uint64_t RecordPeak(ThreadSlot* slot, uint64_t added, uint64_t removed) {
  if (OneThread()) return PeakTracker(&region.header().peak).Record(added, removed);
  return RecordPeakAmongThreads(slot, added, removed);
}

void Count(std::atomic<uint64_t>& counter, uint64_t amount = 1) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

// --- who counts: the thread's slot, or nullptr for the shared cells ------------------------------

void ReleaseAtThreadExit(void* slot) {
  const TrackerScope scope;
  thread_state.slot = nullptr;
  slots.Release(static_cast<ThreadSlot*>(slot));
}

ThreadSlot* AttachThread() {
  const ErrnoGuard keep;
  ThreadSlot* slot = SystemCallsFiltered()
                         ? slots.Acquire(kUnknownOwner)
                         : slots.Acquire(static_cast<uint32_t>(syscall(SYS_gettid)));
  if (slot == nullptr) return nullptr;
  thread_state.slot = slot;
  pthread_setspecific(exit_key, slot);
  return slot;
}

ThreadSlot* SlotOf(const TrackerScope& scope) {
  if (scope.nested()) return nullptr;
  return thread_state.slot != nullptr ? thread_state.slot : AttachThread();
}

uint32_t ReadThreadName() {
  if (SystemCallsFiltered()) return kFirstThreadName;
  const ErrnoGuard keep;
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  return stacks.ThreadName(name);
}

// --- where: site and cell ------------------------------------------------------------------------

uint32_t SiteFrom(const StartRegisters& start, StackMemory& memory, uint32_t thread_name) {
  const CaptureResult capture = CaptureStack(start, memory);
  if (capture.truncated) Count(region.header().truncated_stacks);
  if (capture.incomplete) Count(region.header().incomplete_stacks);
  return stacks.Site(memory, capture, thread_name);
}

uint32_t CaptureSite(ThreadSlot* slot, const StartRegisters& start) {
  if (slot != nullptr) {
    if (slot->name_changed.load(std::memory_order_relaxed) != 0) {
      slot->name_changed.store(0, std::memory_order_relaxed);
      slot->thread_name = ReadThreadName();
    }
    return SiteFrom(start, slot->stack, slot->thread_name);
  }
  const NestedStack nested;
  if (nested.get() == nullptr) {
    Count(region.header().tables_full_events);
    return kTablesFullSite;
  }
  return SiteFrom(start, *nested.get(), ReadThreadName());
}

struct Booked {
  Cell* cell;  // nullptr: no room anywhere
  bool shared;
};

Booked CellOf(ThreadSlot* slot, uint32_t site) {
  if (slot != nullptr) {
    if (Cell* cell = FindCell(region, *slot, site)) return {cell, false};
  }
  if (Cell* cell = shared_cells.Find(site)) return {cell, true};
  Count(region.header().tables_full_events);
  return {shared_cells.Find(kTablesFullSite), true};
}

void BookIn(const Booked& where, uint64_t epoch, const CellChange& change) {
  if (!where.shared) {
    Book(*where.cell, epoch, change);
    return;
  }
  BookShared(*where.cell, epoch, change);
  Count(region.header().shared_bytes, change.allocated_bytes + change.freed_bytes);
}

void BookFree(const TrackerScope& scope, uint64_t size, uint32_t site) {
  ThreadSlot* slot = SlotOf(scope);
  const Booked where = CellOf(slot, site);
  if (where.cell == nullptr) {
    Count(region.header().dropped_events);
    return;
  }
  BookIn(where, RecordPeak(slot, 0, size), {.freed_bytes = size, .freed_count = 1});
}

}  // namespace

// --- life ----------------------------------------------------------------------------------------

bool StartCounting(const MappedRegion& mapped) {
  if (!region.Attach(mapped.base, mapped.bytes)) return false;
  RegionHeader& header = region.header();
  header.pid = static_cast<uint32_t>(getpid());
  StopReason trouble = StopReason::kNone;
  if (!ModuleTable::Init() || !InitUnwinder()) {
    trouble = StopReason::kNoFindObject;
  } else if (!stacks.Init() || shared_cells.Find(kTablesFullSite) == nullptr ||
             !live.Init(kMaxLiveBlocks) ||
             pthread_key_create(&exit_key, ReleaseAtThreadExit) != 0) {
    trouble = StopReason::kNoMemory;
  }
  header.stop_reason.store(static_cast<uint32_t>(trouble), std::memory_order_relaxed);
  const auto state =
      trouble == StopReason::kNone ? TrackerState::kCounting : TrackerState::kStopped;
  header.state.store(static_cast<uint32_t>(state), std::memory_order_release);
  return trouble == StopReason::kNone;
}

RegionHeader& CurrentRegion() { return region.header(); }

// --- events --------------------------------------------------------------------------------------

void OnAllocated(void* address, size_t size, const StartRegisters& start) {
  live.Prefetch(reinterpret_cast<uintptr_t>(address));
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const uint32_t site = CaptureSite(slot, start);
  const Booked where = CellOf(slot, site);
  if (where.cell == nullptr || !live.Insert(reinterpret_cast<uintptr_t>(address), {size, site})) {
    Count(region.header().dropped_events);
    return;
  }
  BookIn(where, RecordPeak(slot, size, 0), {.allocated_bytes = size, .allocated_count = 1});
}

void OnFree(void* address) {
  const TrackerScope scope;
  Block block;
  if (!live.Remove(reinterpret_cast<uintptr_t>(address), &block)) {
    Count(region.header().unknown_frees);
    return;
  }
  BookFree(scope, block.size, block.site);
}

ClaimedBlock ClaimForRealloc(void* address) {
  const TrackerScope scope;
  Block block = {};
  const bool known = live.Remove(reinterpret_cast<uintptr_t>(address), &block);
  return {known, block.size, block.site};
}

void OnReallocated(const ClaimedBlock& old, void* address, size_t size,
                   const StartRegisters& start) {
  if (!old.known) {
    OnAllocated(address, size, start);
    return;
  }
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const uint32_t site = CaptureSite(slot, start);
  const Booked to = CellOf(slot, site);
  const Booked from = CellOf(slot, old.site);
  if (to.cell == nullptr || from.cell == nullptr) {
    Count(region.header().dropped_events);
    return;
  }
  if (!live.Insert(reinterpret_cast<uintptr_t>(address), {size, site})) {
    Count(region.header().dropped_events);
    BookIn(from, RecordPeak(slot, 0, old.size), {.freed_bytes = old.size, .freed_count = 1});
    return;
  }
  const uint64_t epoch = RecordPeak(slot, size, old.size);  // one event: never both live
  BookIn(from, epoch, {.freed_bytes = old.size, .freed_count = 1});
  BookIn(to, epoch, {.allocated_bytes = size, .allocated_count = 1});
}

void OnReallocFreed(const ClaimedBlock& old) {
  if (!old.known) return;
  const TrackerScope scope;
  BookFree(scope, old.size, old.site);
}

void OnReallocFailed(const ClaimedBlock& old, void* address) {
  if (!old.known) return;
  const TrackerScope scope;
  if (live.Insert(reinterpret_cast<uintptr_t>(address), {old.size, old.site})) return;
  Count(region.header().dropped_events);
  BookFree(scope, old.size, old.site);
}

void OnThreadRenamed(uint32_t tid) {
  const TrackerScope scope;
  slots.MarkRenamed(tid);
}

void OnSystemCallsFiltered() { filtered.store(true, std::memory_order_relaxed); }

bool SystemCallsFiltered() { return filtered.load(std::memory_order_relaxed); }

void BeforeModulesChange() { InvalidateUnwinder(); }

void AfterModulesChange() {
  const TrackerScope scope;
  if (modules.MarkUnloaded()) stacks.ForgetUnloaded();
  InvalidateUnwinder();
}

}  // namespace memprof

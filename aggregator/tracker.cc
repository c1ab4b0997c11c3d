#include "aggregator/tracker.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggregator/atomics.h"
#include "aggregator/event_log.h"
#include "aggregator/hooks/errno_guard.h"
#include "aggregator/life.h"
#include "aggregator/nested_stack.h"
#include "aggregator/sampler.h"
#include "aggregator/system_calls.h"
#include "aggregator/tables/booking.h"
#include "aggregator/tables/detail_booking.h"
#include "aggregator/tables/last_allocations.h"
#include "aggregator/tables/live_map.h"
#include "aggregator/tables/module_table.h"
#include "aggregator/tables/peak_tracker.h"
#include "aggregator/tables/shared_cells.h"
#include "aggregator/tables/stack_table.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

namespace {

// All constant-initialised and without destructors: usable before our constructor and after exit.
constinit Region region;
constinit ModuleTable modules{region};
constinit StackTable stacks{region, modules};
constinit LiveMap live;
constinit SlotTable slots;
constinit SlotCells slot_cells{region};
constinit SharedCells shared_cells{region};
pthread_key_t exit_key;

constinit uint32_t temporary_threshold = 1;  // TrackerOptions'
thread_local constinit LastAllocations last_allocations
    __attribute__((tls_model("initial-exec"))) = {};

// Of the thread's last sample, and what was left to its next one: as long as that is the same, the
// thread has allocated nothing since.
struct LastSample {
  uintptr_t address;
  int64_t countdown;
  uint32_t cell;
};
thread_local constinit LastSample last_sample __attribute__((tls_model("initial-exec"))) = {};

constexpr size_t kMaxLiveBlocks = size_t{1} << 31;

void GiveSlotBack();

// Over one of the functions of tracker.h. Nested: the thread was inside one already.
class TrackerScope {
 public:
  TrackerScope() : before_(EnterScope(kInTracker)) {}
  ~TrackerScope() {
    if (__builtin_expect(thread_state.borrows, 0) && !nested()) GiveSlotBack();
    LeaveScope(before_);
  }
  TrackerScope(const TrackerScope&) = delete;
  TrackerScope& operator=(const TrackerScope&) = delete;

  bool nested() const { return (before_ & kInTracker) != 0; }

 private:
  const uintptr_t before_;
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
  if (slot == nullptr || header.options.exact_peak != 0) return tracker.Record(added, removed);
  const uint64_t slack = header.peak_slack.load(std::memory_order_relaxed);
  const uint64_t epoch = tracker.RecordLater(slot->pending, slack, added, removed);
  if (slot->pending == 0) UpdateSlack();
  return epoch;
}

// Enters an event into the order of all events. Returns the epoch that its cells belong to.
[[gnu::always_inline]] inline uint64_t RecordPeak(ThreadSlot* slot, uint64_t added,
                                                  uint64_t removed) {
  if (__builtin_expect(OneThread(), 1))
    return PeakTracker(&region.header().peak).Record(added, removed);
  return RecordPeakAmongThreads(slot, added, removed);
}

[[gnu::always_inline]] inline uint64_t RecordPeak(ThreadSlot* slot, const Event& event) {
  const LoggedEvent logged(event);
  return RecordPeak(slot, event.bytes, event.freed_bytes);
}

void Count(std::atomic<uint64_t>& counter, uint64_t amount = 1) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

// --- who counts: the thread's slot, or nullptr for the shared cells ------------------------------

void ReleaseAtThreadExit(void* slot) {
  const TrackerScope scope;
  thread_state.exiting = true;
  thread_state.slot = nullptr;
  slots.Release(static_cast<ThreadSlot*>(slot));
}

[[gnu::noinline]] void GiveSlotBack() {
  ThreadSlot* slot = thread_state.slot;
  thread_state.slot = nullptr;
  thread_state.borrows = false;
  slots.Release(slot);
}

[[gnu::noinline]] ThreadSlot* AttachThread() {
  if (thread_state.events_without_slot != 0) {
    --thread_state.events_without_slot;
    return nullptr;
  }
  const ErrnoGuard keep;
  ThreadSlot* slot = SystemCallsFiltered()
                         ? slots.Acquire(kUnknownOwner)
                         : slots.Acquire(static_cast<uint32_t>(syscall(SYS_gettid)));
  if (slot == nullptr) {
    thread_state.events_without_slot = kAcquireAgainAfter;
    return nullptr;
  }
  thread_state.slot = slot;
  UpdateSlack();  // there is one more thread to share it
  if (!thread_state.exiting) {
    pthread_setspecific(exit_key, slot);
  } else {
    thread_state.borrows = true;
  }
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

// --- where: the cell of an event -----------------------------------------------------------------

struct Where {
  uint32_t cell;  // kNoCell: no room anywhere
  bool shared;
};

Where SharedCellOf(uint32_t site) {
  const uint32_t cell = shared_cells.Find(site);
  if (cell != kNoCell) return {cell, true};
  Count(region.header().tables_full_events);
  return {shared_cells.Find(kTablesFullSite), true};
}

Where CellOfSite(ThreadSlot* slot, uint32_t site) {
  const uint32_t cell = slot != nullptr ? slot_cells.Find(*slot, site) : kNoCell;
  return cell != kNoCell ? Where{cell, false} : SharedCellOf(site);
}

// The cell for a free of a block whose allocation was booked in `cell`.
[[gnu::always_inline]] inline Where CellForFree(ThreadSlot* slot, uint32_t cell) {
  if (slot != nullptr && slot_cells.Owns(*slot, cell)) return {cell, false};
  return CellOfSite(slot, CellAt(region, cell).site_plus_one.load(std::memory_order_relaxed) - 1);
}

void CountTrouble(const CaptureResult& capture) {
  if (capture.truncated) Count(region.header().truncated_stacks);
  if (capture.incomplete) Count(region.header().incomplete_stacks);
}

[[gnu::noinline]] void NoteNewName(ThreadSlot& slot) {
  slot.name_changed.store(0, std::memory_order_relaxed);
  slot.thread_name = ReadThreadName();
  slot.recent.Forget();
  if (slot.verified != nullptr) slot.verified->Forget();
}

// What a stack leads to depends on the stack and on this.
uint8_t TagOf(const Caller& caller) { return static_cast<uint8_t>(caller.kind); }
uint32_t LabelOf(uint32_t thread_name, const Caller& caller, uint32_t size_class = 0) {
  return SiteLabel(thread_name, static_cast<uint32_t>(caller.kind), size_class);
}

[[gnu::noinline]] Where CellOfNewStack(ThreadSlot& slot, const Caller& caller,
                                       const CaptureResult& capture) {
  const uint32_t label = LabelOf(slot.thread_name, caller);
  const Where where = CellOfSite(&slot, stacks.Site(slot.stack, capture, label));
  if (!where.shared) slot.recent.Remember(slot.stack, capture, TagOf(caller), where.cell);
  return where;
}

// A stack that was captured came again.
[[gnu::noinline]] void NoteComesAgain(ThreadSlot& slot, const Caller& caller, uint32_t cell) {
  if (slot.verified == nullptr) slot.verified = NewVerifiedStacks();
  if (slot.verified == nullptr) return;
  slot.verified->Remember(caller.registers, slot.stack, cell, TagOf(caller));
  if (slot.verified->wants_to_grow()) GrowVerifiedStacks(*slot.verified);
}

[[gnu::noinline]] Where CellWithoutSlot(const Caller& caller, uint32_t size_class = 0) {
  const NestedStack nested;
  if (nested.get() == nullptr) {
    Count(region.header().tables_full_events);
    return SharedCellOf(kTablesFullSite);
  }
  const CaptureResult capture = CaptureStack(caller.registers, *nested.get());
  CountTrouble(capture);
  const uint32_t label = LabelOf(ReadThreadName(), caller, size_class);
  return SharedCellOf(stacks.Site(*nested.get(), capture, label));
}

[[gnu::noinline]] Where CellOfCaptured(ThreadSlot& slot, const Caller& caller) {
  const CaptureResult capture = CaptureStack(caller.registers, slot.stack);
  if (__builtin_expect(capture.truncated || capture.incomplete, 0)) CountTrouble(capture);
  const uint32_t known = slot.recent.Find(slot.stack, capture, TagOf(caller));
  const Where where =
      known != RecentStacks::kNone ? Where{known, false} : CellOfNewStack(slot, caller, capture);
  const bool came_before =
      !where.shared &&
      CellAt(region, where.cell).allocated_count.load(std::memory_order_relaxed) != 0;
  if (came_before) NoteComesAgain(slot, caller, where.cell);
  return where;
}

// For the event log: the stack is captured as well, and must have led to the same cell.
[[maybe_unused, gnu::noinline]] Where CellOfVerified(ThreadSlot& slot, const Caller& caller,
                                                     uint32_t cell) {
  const CaptureResult capture = CaptureStack(caller.registers, slot.stack);
  uint32_t captured = slot.recent.Find(slot.stack, capture, TagOf(caller));
  if (captured == RecentStacks::kNone) captured = CellOfNewStack(slot, caller, capture).cell;
  if (captured != cell) Count(region.header().dropped_events);
  return {captured, false};
}

// The cell for an allocation by the caller.
[[gnu::always_inline]] inline Where CellForAllocation(ThreadSlot* slot, const Caller& caller) {
  if (__builtin_expect(slot == nullptr, 0)) return CellWithoutSlot(caller);
  if (__builtin_expect(slot->name_changed.load(std::memory_order_relaxed) != 0, 0)) {
    NoteNewName(*slot);
  }
  if (__builtin_expect(slot->verified != nullptr, 1)) {
    const uint32_t cell = slot->verified->Find(caller.registers, TagOf(caller));
    if (__builtin_expect(cell != VerifiedStacks::kNone, 1)) {
      return kLogsEvents ? CellOfVerified(*slot, caller, cell) : Where{cell, false};
    }
  }
  return CellOfCaptured(*slot, caller);
}

// What an event is beside the figures of its cell.
enum class Detail {
  kNone,
  kSize,       // one block was allocated, and its size's class is not known from its site
  kTemporary,  // what is freed was temporary
};

[[gnu::always_inline]] inline void BookIn(const Where& where, uint64_t epoch,
                                          const CellChange& change, Detail detail = Detail::kNone) {
  Cell& cell = CellAt(region, where.cell);
  if (__builtin_expect(!where.shared, 1)) {
    Book(
        cell, epoch, change, [&]() __attribute__((always_inline)) {
          if (detail == Detail::kSize) BookSize(region, where.cell, change.allocated_bytes);
          if (detail == Detail::kTemporary) {
            BookTemporary(region, where.cell, change.freed_bytes, change.freed_count);
          }
        });
    return;
  }
  BookShared(cell, epoch, change);
  if (detail == Detail::kSize) BookSizeShared(region, where.cell, change.allocated_bytes);
  if (detail == Detail::kTemporary) {
    BookTemporaryShared(region, where.cell, change.freed_bytes, change.freed_count);
  }
  Count(region.header().shared_bytes, change.allocated_bytes + change.freed_bytes);
}

// A signal handler may fork in the middle of an event; in the child the event goes on, and would be
// booked in the parent's region.
bool ForkedMeanwhile() { return counting->load(std::memory_order_relaxed) == 0; }

// Whether a block that this thread frees now is a temporary one.
[[gnu::always_inline]] inline Detail DetailOfFree(void* address, uint32_t cell) {
  return last_allocations.Have(reinterpret_cast<uintptr_t>(address), cell, temporary_threshold)
             ? Detail::kTemporary
             : Detail::kNone;
}

[[gnu::always_inline]] inline void BookFree(ThreadSlot* slot, EventKind kind, void* address,
                                            uint64_t size, uint32_t cell, Detail detail) {
  if (__builtin_expect(ForkedMeanwhile(), 0)) return;
  const Where where = CellForFree(slot, cell);
  if (__builtin_expect(where.cell == kNoCell, 0)) {
    Count(region.header().dropped_events);
    return;
  }
  const Event event = {
      .kind = kind, .address = address, .freed_bytes = size, .freed_cell = where.cell};
  BookIn(where, RecordPeak(slot, event), {.freed_bytes = size, .freed_count = 1}, detail);
}

}  // namespace

// --- life ----------------------------------------------------------------------------------------

bool StartCounting(const MappedRegion& mapped) {
  if (!region.Attach(mapped.base, mapped.bytes)) return false;
  RegionHeader& header = region.header();
  const uint32_t threshold = header.options.temporary_threshold;
  temporary_threshold = threshold - 1 < kMaxTemporaryThreshold ? threshold : 1;
  header.pid = static_cast<uint32_t>(getpid());
  StopReason trouble = StopReason::kNone;
  if (!ModuleTable::Init() || !InitUnwinder()) {
    trouble = StopReason::kNoFindObject;
  } else if (!stacks.Init() || !slot_cells.Init() ||
             shared_cells.Find(kTablesFullSite) == kNoCell || !live.Init(kMaxLiveBlocks) ||
             pthread_key_create(&exit_key, ReleaseAtThreadExit) != 0 ||
             !StartSampler(header.options)) {
    trouble = StopReason::kNoMemory;
  }
  OpenEventLog(region);
  header.stop_reason.store(static_cast<uint32_t>(trouble), std::memory_order_relaxed);
  const auto state =
      trouble == StopReason::kNone ? TrackerState::kCounting : TrackerState::kStopped;
  header.state.store(static_cast<uint32_t>(state), std::memory_order_release);
  return trouble == StopReason::kNone;
}

RegionHeader& CurrentRegion() { return region.header(); }

// --- hooks that were left ------------------------------------------------------------------------

void ForgetLeftScope(uintptr_t sp) {
  ThreadSlot* slot = thread_state.slot;
  const uintptr_t scope = thread_state.scope;
  if (slot == nullptr || counting->load(std::memory_order_relaxed) == 0) return;
  if (SystemCallsFiltered()) return;
  if (!IsAboveOnOwnStack(slot->stack, sp, scope & ~kScopeFlags)) return;
  // On an alternate stack that lies within the thread's own, all below may be alive.
  const ErrnoGuard keep;
  stack_t alternate;
  if (sigaltstack(nullptr, &alternate) != 0 || (alternate.ss_flags & SS_ONSTACK) != 0) return;
  if ((scope & kInTracker) != 0) {
    ForgetCaptures(slot->stack);
    slot_cells.Mend(*slot);
  }
  Count(region.header().dropped_events);
  LeaveScope(0);
}

// --- events --------------------------------------------------------------------------------------

void OnAllocated(void* address, size_t size, const Caller& caller) {
  live.Prefetch(reinterpret_cast<uintptr_t>(address));
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const Where where = CellForAllocation(slot, caller);
  last_allocations.Note(reinterpret_cast<uintptr_t>(address), where.cell, temporary_threshold);
  if (__builtin_expect(ForkedMeanwhile(), 0)) return;
  if (where.cell == kNoCell ||
      !live.Insert(reinterpret_cast<uintptr_t>(address), {size, where.cell})) {
    Count(region.header().dropped_events);
    return;
  }
  const Event event = {.kind = EventKind::kAllocated,
                       .address = address,
                       .bytes = size,
                       .cell = where.cell,
                       .stack = slot != nullptr ? &slot->stack : nullptr,
                       .allocator = caller.kind};
  BookIn(where, RecordPeak(slot, event), {.allocated_bytes = size, .allocated_count = 1},
         Detail::kSize);
}

void OnFree(void* address) {
  const TrackerScope scope;
  Block block;
  if (!live.Remove(reinterpret_cast<uintptr_t>(address), &block)) {
    Count(region.header().unknown_frees);
    return;
  }
  BookFree(SlotOf(scope), EventKind::kFreed, address, block.size, block.cell,
           DetailOfFree(address, block.cell));
}

ClaimedBlock ClaimForRealloc(void* address) {
  const TrackerScope scope;
  Block block = {};
  const bool known = live.Remove(reinterpret_cast<uintptr_t>(address), &block);
  if (known) const LoggedEvent logged({.kind = EventKind::kClaimed, .address = address});
  return {known, block.size, block.cell};
}

void OnReallocated(const ClaimedBlock& old, void* address, size_t size, const Caller& caller) {
  if (!old.known) {
    OnAllocated(address, size, caller);
    return;
  }
  live.Prefetch(reinterpret_cast<uintptr_t>(address));
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const Where to = CellForAllocation(slot, caller);
  const Where from = CellForFree(slot, old.cell);
  last_allocations.Note(reinterpret_cast<uintptr_t>(address), to.cell, temporary_threshold);
  if (__builtin_expect(ForkedMeanwhile(), 0)) return;
  if (to.cell == kNoCell || from.cell == kNoCell) {
    Count(region.header().dropped_events);
    return;
  }
  if (!live.Insert(reinterpret_cast<uintptr_t>(address), {size, to.cell})) {
    Count(region.header().dropped_events);
    const Event event = {
        .kind = EventKind::kClaimFreed, .freed_bytes = old.size, .freed_cell = from.cell};
    BookIn(from, RecordPeak(slot, event), {.freed_bytes = old.size, .freed_count = 1});
    return;
  }
  const Event event = {.kind = EventKind::kReallocated,
                       .address = address,
                       .bytes = size,
                       .cell = to.cell,
                       .stack = slot != nullptr ? &slot->stack : nullptr,
                       .allocator = caller.kind,
                       .freed_bytes = old.size,
                       .freed_cell = from.cell};
  const uint64_t epoch = RecordPeak(slot, event);  // one event: never both live
  BookIn(from, epoch, {.freed_bytes = old.size, .freed_count = 1});
  BookIn(to, epoch, {.allocated_bytes = size, .allocated_count = 1}, Detail::kSize);
}

void OnReallocFreed(const ClaimedBlock& old, void* address) {
  if (!old.known) return;
  const TrackerScope scope;
  BookFree(SlotOf(scope), EventKind::kClaimFreed, nullptr, old.size, old.cell,
           DetailOfFree(address, old.cell));
}

void OnReallocFailed(const ClaimedBlock& old, void* address) {
  if (!old.known) return;
  const TrackerScope scope;
  if (live.Insert(reinterpret_cast<uintptr_t>(address), {old.size, old.cell})) {
    const LoggedEvent logged({.kind = EventKind::kClaimReturned, .address = address});
    return;
  }
  Count(region.header().dropped_events);
  BookFree(SlotOf(scope), EventKind::kClaimFreed, nullptr, old.size, old.cell, Detail::kNone);
}

// --- sampled events ------------------------------------------------------------------------------

namespace {

// The cell for a sampled block. Samples are rare: nothing is remembered of their stacks.
Where CellForSample(ThreadSlot* slot, size_t size, const Caller& caller) {
  const uint32_t size_class = SizeClass(size);
  if (slot == nullptr) return CellWithoutSlot(caller, size_class);
  if (slot->name_changed.load(std::memory_order_relaxed) != 0) NoteNewName(*slot);
  const CaptureResult capture = CaptureStack(caller.registers, slot->stack);
  CountTrouble(capture);
  return CellOfSite(
      slot, stacks.Site(slot->stack, capture, LabelOf(slot->thread_name, caller, size_class)));
}

// The filter knows an address for as long as the live map does.
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

CellChange Allocated(const SampleWeight& weight) {
  return {.allocated_bytes = weight.bytes, .allocated_count = weight.blocks};
}
CellChange Freed(const SampleWeight& weight) {
  return {.freed_bytes = weight.bytes, .freed_count = weight.blocks};
}

// Whether the thread allocated nothing between this sample and its free. While sampling the
// threshold is 1. (A realloc(p, 0) and one that fails take their step of the countdown too: the
// block that they were given is no temporary one.)
Detail DetailOfSampleFree(void* address, uint32_t cell) {
  return last_sample.address == reinterpret_cast<uintptr_t>(address) && last_sample.cell == cell &&
                 last_sample.countdown == thread_state.countdown
             ? Detail::kTemporary
             : Detail::kNone;
}

void BookSampleFree(ThreadSlot* slot, uint64_t kept_size, uint32_t cell,
                    Detail detail = Detail::kNone) {
  if (ForkedMeanwhile()) return;
  const Where where = CellForFree(slot, cell);
  if (where.cell == kNoCell) {
    Count(region.header().dropped_events);
    return;
  }
  const SampleWeight weight = WeightOfKept(kept_size);
  BookIn(where, RecordPeak(slot, 0, weight.bytes), Freed(weight), detail);
}

}  // namespace

void OnSampled(void* address, size_t size, const Caller& caller) {
  OnSampleReallocated({}, address, size, true, caller);
}

void OnSampleFree(void* address) {
  const TrackerScope scope;
  Block block;
  if (!TakeSample(address, &block)) return;
  BookSampleFree(SlotOf(scope), block.size, block.cell, DetailOfSampleFree(address, block.cell));
}

ClaimedBlock ClaimSample(void* address) {
  const TrackerScope scope;
  Block block = {};
  const bool known = TakeSample(address, &block);
  return {known, block.size, block.cell};
}

void OnSampleReallocated(const ClaimedBlock& old, void* address, size_t size, bool sampled,
                         const Caller& caller) {
  if (!sampled) {
    OnSampleReallocFreed(old);
    return;
  }
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const Where to = CellForSample(slot, size, caller);
  if (ForkedMeanwhile()) return;
  last_sample = {reinterpret_cast<uintptr_t>(address), thread_state.countdown, to.cell};
  const uint64_t kept_size = KeptSize(size);
  if (to.cell == kNoCell || !KeepSample(address, {kept_size, to.cell})) {
    Count(region.header().dropped_events);
    if (old.known) BookSampleFree(slot, old.size, old.cell);
    return;
  }
  const Where from = old.known ? CellForFree(slot, old.cell) : to;
  const bool frees = old.known && from.cell != kNoCell;
  const SampleWeight added = WeightOfKept(kept_size);
  const SampleWeight removed = frees ? WeightOfKept(old.size) : SampleWeight{};
  const uint64_t epoch = RecordPeak(slot, added.bytes, removed.bytes);  // never both live
  if (frees) BookIn(from, epoch, Freed(removed));
  BookIn(to, epoch, Allocated(added));
}

void OnSampleReallocFreed(const ClaimedBlock& old) {
  if (!old.known) return;
  const TrackerScope scope;
  BookSampleFree(SlotOf(scope), old.size, old.cell);
}

void OnSampleReallocFailed(const ClaimedBlock& old, void* address) {
  if (!old.known) return;
  const TrackerScope scope;
  // A countdown drawn anew may by chance be what it was at the sample.
  if (last_sample.address == reinterpret_cast<uintptr_t>(address)) last_sample = {};
  if (KeepSample(address, {old.size, old.cell})) return;
  Count(region.header().dropped_events);
  BookSampleFree(SlotOf(scope), old.size, old.cell);
}

void OnThreadRenamed(uint32_t tid) {
  const TrackerScope scope;
  slots.MarkRenamed(tid);
}

void BeforeModulesChange() { InvalidateUnwinder(); }

void AfterModulesChange() {
  const TrackerScope scope;
  if (modules.MarkUnloaded()) stacks.ForgetUnloaded();
  InvalidateUnwinder();
}

}  // namespace memprof

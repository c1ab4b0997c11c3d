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

// A cell and whether it is shared, or none: there is no room anywhere. One word, whose highest bit
// says that it is not a cell of the thread's own.
class Where {
 public:
  static Where Own(uint32_t cell) { return Where(cell); }
  static Where Shared(uint32_t cell) { return Where(cell | kNotOwn); }  // also kNoCell

  bool own() const { return (word_ & kNotOwn) == 0; }
  bool none() const { return word_ == kNoCell; }
  uint32_t cell() const { return word_ & ~kNotOwn; }  // of none: a number that no cell has

 private:
  static constexpr uint32_t kNotOwn = 1u << 31;
  static_assert(kMaxCells < kNotOwn && (kNoCell & kNotOwn) != 0);

  explicit Where(uint32_t word) : word_(word) {}
  uint32_t word_;
};

// The same where it is known to be the thread's own.
class OwnCell {
 public:
  explicit OwnCell(uint32_t cell) : cell_(cell) {}
  static constexpr bool own() { return true; }
  static constexpr bool none() { return false; }
  uint32_t cell() const { return cell_; }

 private:
  uint32_t cell_;
};

Where SharedCellOf(uint32_t site) {
  const uint32_t cell = shared_cells.Find(site);
  if (cell != kNoCell) return Where::Shared(cell);
  Count(region.header().tables_full_events);
  return Where::Shared(shared_cells.Find(kTablesFullSite));
}

Where CellOfSite(ThreadSlot* slot, uint32_t site) {
  const uint32_t cell = slot != nullptr ? slot_cells.Find(*slot, site) : kNoCell;
  return cell != kNoCell ? Where::Own(cell) : SharedCellOf(site);
}

// The cell for a free of a block whose allocation was booked in `cell`.
[[gnu::always_inline]] inline Where CellForFree(ThreadSlot* slot, uint32_t cell) {
  if (slot != nullptr && slot_cells.Owns(*slot, cell)) return Where::Own(cell);
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
  if (where.own()) slot.recent.Remember(slot.stack, capture, TagOf(caller), where.cell());
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
      known != RecentStacks::kNone ? Where::Own(known) : CellOfNewStack(slot, caller, capture);
  const bool came_before =
      where.own() &&
      CellAt(region, where.cell()).allocated_count.load(std::memory_order_relaxed) != 0;
  if (came_before) NoteComesAgain(slot, caller, where.cell());
  return where;
}

// For the event log: the stack is captured as well, and must have led to the same cell.
[[maybe_unused, gnu::noinline]] Where CellOfVerified(ThreadSlot& slot, const Caller& caller,
                                                     uint32_t cell) {
  const CaptureResult capture = CaptureStack(caller.registers, slot.stack);
  const uint32_t known = slot.recent.Find(slot.stack, capture, TagOf(caller));
  const Where where =
      known != RecentStacks::kNone ? Where::Own(known) : CellOfNewStack(slot, caller, capture);
  if (!where.own() || where.cell() != cell) Count(region.header().dropped_events);
  return where;
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
      return kLogsEvents ? CellOfVerified(*slot, caller, cell) : Where::Own(cell);
    }
  }
  return CellOfCaptured(*slot, caller);
}

// `own_details`, `shared_details`: book what the event is beside the figures of its cell.
// `In`: Where or OwnCell.
template <typename In, typename Own, typename Shared>
[[gnu::always_inline]] inline void BookIn(In where, uint64_t epoch, const CellChange& change,
                                          Own own_details, Shared shared_details) {
  Cell& cell = CellAt(region, where.cell());
  if (__builtin_expect(where.own(), 1)) {
    Book(cell, epoch, change, own_details);
    return;
  }
  BookShared(cell, epoch, change);
  shared_details();
  Count(region.header().shared_bytes, change.allocated_bytes + change.freed_bytes);
}

// Of samples, whose sites say the class of their size.
void BookAllocated(Where where, uint64_t epoch, const SampleWeight& weight) {
  BookIn(
      where, epoch, {.allocated_bytes = weight.bytes, .allocated_count = weight.blocks}, [] {},
      [] {});
}
template <typename In>
[[gnu::always_inline]] inline void BookAllocated(In where, uint64_t epoch, uint64_t size) {
  BookIn(
      where, epoch, {.allocated_bytes = size, .allocated_count = 1},
      [&]() __attribute__((always_inline)) { BookSize(region, where.cell(), size); },
      [&] { BookSizeShared(region, where.cell(), size); });
}

// `is_temporary`: says whether what is freed was temporary.
template <typename In, typename IsTemporary>
[[gnu::always_inline]] inline void BookFreed(In where, uint64_t epoch, const SampleWeight& weight,
                                             IsTemporary is_temporary) {
  BookIn(
      where, epoch, {.freed_bytes = weight.bytes, .freed_count = weight.blocks},
      [&]() __attribute__((always_inline)) {
        if (is_temporary()) BookTemporary(region, where.cell(), weight.bytes, weight.blocks);
      },
      [&] {
        if (is_temporary()) BookTemporaryShared(region, where.cell(), weight.bytes, weight.blocks);
      });
}
bool IsNotTemporary() { return false; }

// A signal handler may fork in the middle of an event; in the child the event goes on, and would be
// booked in the parent's region.
bool ForkedMeanwhile() { return counting->load(std::memory_order_relaxed) == 0; }

// What nearly every event finds: it is still counted, and its temporary threshold is 1.
bool CountsPlainly() { return counting->load(std::memory_order_relaxed) == kCountsAll; }

void NoteAllocation(void* address, uint32_t cell) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (temporary_threshold == 1) {
    thread_state.last = {at, cell};
  } else if (thread_state.slot != nullptr) {
    thread_state.slot->last.Note(at, cell, temporary_threshold);
  }
}

// Whether a block that this thread frees now is a temporary one.
bool IsTemporary(void* address, uint32_t cell) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (temporary_threshold == 1) return thread_state.last.Is(at, cell);
  const ThreadSlot* slot = thread_state.slot;
  return slot != nullptr && slot->last.Have(at, cell, temporary_threshold);
}

template <typename In, typename IsTemporary>
[[gnu::always_inline]] inline void BookFreeIn(In where, ThreadSlot* slot, EventKind kind,
                                              void* address, uint64_t size,
                                              IsTemporary is_temporary) {
  const Event event = {
      .kind = kind, .address = address, .freed_bytes = size, .freed_cell = where.cell()};
  BookFreed(where, RecordPeak(slot, event), {size, 1}, is_temporary);
}

[[gnu::noinline]] void BookFree(ThreadSlot* slot, EventKind kind, void* address, uint64_t size,
                                uint32_t cell, bool temporary) {
  if (ForkedMeanwhile()) return;
  const Where where = CellForFree(slot, cell);
  if (where.none()) {
    Count(region.header().dropped_events);
    return;
  }
  BookFreeIn(where, slot, kind, address, size, [=] { return temporary; });
}

template <typename In>
[[gnu::always_inline]] inline void KeepAllocation(In where, ThreadSlot* slot, void* address,
                                                  size_t size, AllocatorKind kind,
                                                  LiveMap::Look look) {
  if (where.none() ||
      !live.Insert(reinterpret_cast<uintptr_t>(address), {size, where.cell()}, look)) {
    Count(region.header().dropped_events);
    return;
  }
  const Event event = {.kind = EventKind::kAllocated,
                       .address = address,
                       .bytes = size,
                       .cell = where.cell(),
                       .stack = slot != nullptr ? &slot->stack : nullptr,
                       .allocator = kind};
  BookAllocated(where, RecordPeak(slot, event), size);
}

[[gnu::noinline]] void KeepAnyAllocation(Where where, ThreadSlot* slot, void* address, size_t size,
                                         AllocatorKind kind, LiveMap::Look look) {
  NoteAllocation(address, where.cell());
  if (ForkedMeanwhile()) return;
  KeepAllocation(where, slot, address, size, kind, look);
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
  const auto look = live.Prefetch(reinterpret_cast<uintptr_t>(address));
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const Where where = CellForAllocation(slot, caller);
  if (__builtin_expect(!where.own() || !CountsPlainly(), 0)) {
    KeepAnyAllocation(where, slot, address, size, caller.kind, look);
    return;
  }
  const OwnCell own(where.cell());
  thread_state.last = {reinterpret_cast<uintptr_t>(address), own.cell()};
  KeepAllocation(own, slot, address, size, caller.kind, look);
}

void OnFree(void* address) {
  const TrackerScope scope;
  Block block;
  if (!live.Remove(reinterpret_cast<uintptr_t>(address), &block)) {
    Count(region.header().unknown_frees);
    return;
  }
  ThreadSlot* slot = SlotOf(scope);
  if (__builtin_expect(slot == nullptr || !slot_cells.Owns(*slot, block.cell) || !CountsPlainly(),
                       0)) {
    BookFree(slot, EventKind::kFreed, address, block.size, block.cell,
             IsTemporary(address, block.cell));
    return;
  }
  BookFreeIn(
      OwnCell(block.cell), slot, EventKind::kFreed, address,
      block.size, [&]() __attribute__((always_inline)) {
        return thread_state.last.Is(reinterpret_cast<uintptr_t>(address), block.cell);
      });
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
  const auto look = live.Prefetch(reinterpret_cast<uintptr_t>(address));
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  const Where to = CellForAllocation(slot, caller);
  const Where from = CellForFree(slot, old.cell);
  NoteAllocation(address, to.cell());
  if (__builtin_expect(ForkedMeanwhile(), 0)) return;
  if (to.none() || from.none()) {
    Count(region.header().dropped_events);
    return;
  }
  if (!live.Insert(reinterpret_cast<uintptr_t>(address), {size, to.cell()}, look)) {
    Count(region.header().dropped_events);
    const Event event = {
        .kind = EventKind::kClaimFreed, .freed_bytes = old.size, .freed_cell = from.cell()};
    BookFreed(from, RecordPeak(slot, event), {old.size, 1}, IsNotTemporary);
    return;
  }
  const Event event = {.kind = EventKind::kReallocated,
                       .address = address,
                       .bytes = size,
                       .cell = to.cell(),
                       .stack = slot != nullptr ? &slot->stack : nullptr,
                       .allocator = caller.kind,
                       .freed_bytes = old.size,
                       .freed_cell = from.cell()};
  const uint64_t epoch = RecordPeak(slot, event);  // one event: never both live
  BookFreed(from, epoch, {old.size, 1}, IsNotTemporary);
  BookAllocated(to, epoch, size);
}

void OnReallocFreed(const ClaimedBlock& old, void* address) {
  if (!old.known) return;
  const TrackerScope scope;
  BookFree(SlotOf(scope), EventKind::kClaimFreed, nullptr, old.size, old.cell,
           IsTemporary(address, old.cell));
}

void OnReallocFailed(const ClaimedBlock& old, void* address) {
  if (!old.known) return;
  const TrackerScope scope;
  if (live.Insert(reinterpret_cast<uintptr_t>(address), {old.size, old.cell})) {
    const LoggedEvent logged({.kind = EventKind::kClaimReturned, .address = address});
    return;
  }
  Count(region.header().dropped_events);
  BookFree(SlotOf(scope), EventKind::kClaimFreed, nullptr, old.size, old.cell, false);
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

// Whether the thread allocated nothing between this sample and its free. While sampling the
// threshold is 1. (A realloc(p, 0) and one that fails take their step of the countdown too: the
// block that they were given is no temporary one.)
bool IsTemporarySample(void* address, uint32_t cell) {
  return last_sample.address == reinterpret_cast<uintptr_t>(address) && last_sample.cell == cell &&
         last_sample.countdown == thread_state.countdown;
}

void BookSampleFree(ThreadSlot* slot, uint64_t kept_size, uint32_t cell, bool temporary = false) {
  if (ForkedMeanwhile()) return;
  const Where where = CellForFree(slot, cell);
  if (where.none()) {
    Count(region.header().dropped_events);
    return;
  }
  const SampleWeight weight = WeightOfKept(kept_size);
  BookFreed(where, RecordPeak(slot, 0, weight.bytes), weight, [=] { return temporary; });
}

}  // namespace

void OnSampled(void* address, size_t size, const Caller& caller) {
  OnSampleReallocated({}, address, size, true, caller);
}

void OnSampleFree(void* address) {
  const TrackerScope scope;
  Block block;
  if (!TakeSample(address, &block)) return;
  BookSampleFree(SlotOf(scope), block.size, block.cell, IsTemporarySample(address, block.cell));
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
  last_sample = {reinterpret_cast<uintptr_t>(address), thread_state.countdown, to.cell()};
  const uint64_t kept_size = KeptSize(size);
  if (to.none() || !KeepSample(address, {kept_size, to.cell()})) {
    Count(region.header().dropped_events);
    if (old.known) BookSampleFree(slot, old.size, old.cell);
    return;
  }
  const Where from = old.known ? CellForFree(slot, old.cell) : to;
  const bool frees = old.known && !from.none();
  const SampleWeight added = WeightOfKept(kept_size);
  const SampleWeight removed = frees ? WeightOfKept(old.size) : SampleWeight{};
  const uint64_t epoch = RecordPeak(slot, added.bytes, removed.bytes);  // never both live
  if (frees) BookFreed(from, epoch, removed, IsNotTemporary);
  BookAllocated(to, epoch, added);
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

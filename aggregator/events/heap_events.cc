#include "aggregator/events/heap_events.h"

#include "aggregator/events/book_event.h"
#include "aggregator/events/event_cell.h"
#include "aggregator/events/event_log.h"
#include "aggregator/events/inherited_heap.h"
#include "aggregator/events/order.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/events/unseen_blocks.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/thread_state.h"

namespace memprof {
namespace {

// True if the program may be going through the heap from one block to the next.
bool AreNeighbours(uintptr_t a, uintptr_t b) {
  constexpr uintptr_t kNear = 4096;
  return a - b + kNear < 2 * kNear;
}

// The state that nearly every event finds: counting goes on, and the temporary threshold is 1.
bool CountsPlainly() { return CurrentMode() == CountingMode::kAll; }

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
  if (__builtin_expect(!CountsPlainly(), 0)) {
    if (ForkedMeanwhile()) return;
    if (WatchesThreads()) WatchFreed(cell, size);
  }
  const Where where = CellForFree(slot, cell);
  BookFreeIn(where, slot, kind, address, size, [=] { return temporary; });
}

template <typename In>
[[gnu::always_inline]] inline void KeepAllocation(In where, ThreadSlot* slot, void* address,
                                                  size_t size, AllocatorKind kind,
                                                  LiveMap::Look look, bool runs = false) {
  if (!live.Insert(reinterpret_cast<uintptr_t>(address), {size, where.cell()}, look, runs)) {
    Count(process_region.header().dropped_events);
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

// Frees a block that is not in the live map.
[[gnu::noinline, gnu::cold]] void FreeUnknown(ThreadSlot* slot, void* address) {
  if (!FreeInherited(slot, reinterpret_cast<uintptr_t>(address))) {
    CountUnseenFree(address);
  }
}

[[gnu::noinline]] void KeepAnyAllocation(Where where, ThreadSlot* slot, void* address, size_t size,
                                         AllocatorKind kind, LiveMap::Look look) {
  NoteAllocation(address, where.cell());
  if (__builtin_expect(!CountsPlainly(), 0)) {
    if (ForkedMeanwhile()) return;
    if (LooksForUnseenFrees()) ForgetUnseenFree(slot, address);
    if (WatchesThreads()) WatchAllocated(slot, size);
  }
  KeepAllocation(where, slot, address, size, kind, look);
}

}  // namespace

[[gnu::noinline]] void ForgetUnseenFree(ThreadSlot* slot, void* address) {
  Block block;
  if (!live.RemoveFromBucket(reinterpret_cast<uintptr_t>(address), &block)) return;
  Count(process_region.header().dropped_events);
  BookFree(slot, EventKind::kFreed, address, block.size, block.cell, false);
  LookForUnseenFrees();
}

void OnAllocated(void* address, size_t size, const Caller& caller) {
  const TrackerScope scope;
  const auto look = live.Prefetch(reinterpret_cast<uintptr_t>(address));
  ThreadSlot* slot = SlotOf(scope);
  const Where where = CellForAllocation(slot, caller, address);
  if (__builtin_expect(!where.own() || !CountsPlainly(), 0)) {
    KeepAnyAllocation(where, slot, address, size, caller.kind, look);
    return;
  }
  const OwnCell own(where.cell());
  const auto at = reinterpret_cast<uintptr_t>(address);
  const bool runs = AreNeighbours(at, thread_state.last.address);
  thread_state.last = {at, own.cell()};
  KeepAllocation(own, slot, address, size, caller.kind, look, runs);
}

namespace {

// False: the block isn't known.
[[gnu::always_inline]] inline bool FreeKnown(const TrackerScope& scope, void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const bool runs = AreNeighbours(at, thread_state.freed);
  thread_state.freed = at;
  Block block;
  if (!live.Remove(at, &block, runs)) return false;
  ThreadSlot* slot = SlotOf(scope);
  if (__builtin_expect(slot == nullptr || !slot_cells.Owns(*slot, block.cell) || !CountsPlainly(),
                       0)) {
    BookFree(slot, EventKind::kFreed, address, block.size, block.cell,
             IsTemporary(address, block.cell));
    return true;
  }
  BookFreeIn(
      OwnCell(block.cell), slot, EventKind::kFreed, address,
      block.size, [&]() __attribute__((always_inline)) {
        return thread_state.last.Is(at, block.cell);
      });
  return true;
}

}  // namespace

void OnFree(void* address) {
  const TrackerScope scope;
  if (!FreeKnown(scope, address)) FreeUnknown(SlotOf(scope), address);
}

bool OnDelete(void* address) {
  const TrackerScope scope;
  return FreeKnown(scope, address) ||
         FreeInherited(SlotOf(scope), reinterpret_cast<uintptr_t>(address));
}

uint64_t SizeOfUnknown(const void* address) { return UnseenSize(address); }
void OnUnknownDeleted(uint64_t size) { CountUnseenDelete(size); }

ClaimedBlock ClaimForRealloc(void* address) {
  const TrackerScope scope;
  Block block = {};
  if (live.Remove(reinterpret_cast<uintptr_t>(address), &block)) {
    const LoggedEvent logged({.kind = EventKind::kClaimed, .address = address});
    return {fork_generation, block.size, block.cell};
  }
  const bool inherited = TakeInherited(reinterpret_cast<uintptr_t>(address), &block);
  return {inherited ? fork_generation - 1 : 0, inherited ? block.size : UnseenSize(address),
          block.cell};
}

void OnReallocated(const ClaimedBlock& old, void* address, size_t size, const Caller& caller) {
  if (__builtin_expect(!OfThisGeneration(old), 0)) {
    // First the free: the two blocks are never live together.
    if (old.known != 0) {
      BookInheritedFree(old.size);
    } else {
      CountUnseenRealloc(old.size);
    }
    OnAllocated(address, size, caller);
    return;
  }
  const TrackerScope scope;
  const auto look = live.Prefetch(reinterpret_cast<uintptr_t>(address));
  ThreadSlot* slot = SlotOf(scope);
  const Where to = CellForAllocation(slot, caller, address);
  const Where from = CellForFree(slot, old.cell);
  NoteAllocation(address, to.cell());
  if (__builtin_expect(!CountsPlainly(), 0)) {
    if (ForkedMeanwhile()) return;
    if (LooksForUnseenFrees()) ForgetUnseenFree(slot, address);
    if (WatchesThreads()) WatchReallocated(slot, size, old.cell, old.size);
  }
  if (!live.Insert(reinterpret_cast<uintptr_t>(address), {size, to.cell()}, look)) {
    Count(process_region.header().dropped_events);
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
  const uint64_t epoch = RecordPeak(slot, event);  // one event: the two are never live together
  BookFreed(from, epoch, {old.size, 1}, IsNotTemporary);
  BookAllocated(to, epoch, size);
}

void OnReallocFreed(const ClaimedBlock& old, void* address) {
  if (!OfThisGeneration(old)) {
    if (old.known != 0) {
      BookInheritedFree(old.size);
    } else {
      CountUnseenRealloc(old.size);
    }
    return;
  }
  const TrackerScope scope;
  BookFree(SlotOf(scope), EventKind::kClaimFreed, nullptr, old.size, old.cell,
           IsTemporary(address, old.cell));
}

void OnReallocFailed(const ClaimedBlock& old, void* address) {
  if (!OfThisGeneration(old)) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (old.known != 0 && !PutBackInherited(at, {old.size, 0})) BookInheritedFree(old.size);
    return;
  }
  const TrackerScope scope;
  if (live.Insert(reinterpret_cast<uintptr_t>(address), {old.size, old.cell})) {
    const LoggedEvent logged({.kind = EventKind::kClaimReturned, .address = address});
    return;
  }
  Count(process_region.header().dropped_events);
  BookFree(SlotOf(scope), EventKind::kClaimFreed, nullptr, old.size, old.cell, false);
}

}  // namespace memprof

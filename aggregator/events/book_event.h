// Books an event: changes its cell, and the details beside the cell's figures.
//
// An event is entered into the order first (order.h), which tells the epoch for its cells.
#pragma once

#include "aggregator/events/event_cell.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/tables/booking.h"
#include "aggregator/tables/detail_booking.h"

namespace memprof {

// `own_details` and `shared_details` book the details of the event. `In` is Where or OwnCell.
template <typename In, typename Own, typename Shared>
[[gnu::always_inline]] inline void BookIn(In where, uint64_t epoch, const CellChange& change,
                                          Own own_details, Shared shared_details) {
  Cell& cell = CellAt(process_region, where.cell());
  if (__builtin_expect(where.own(), 1)) {
    Book(cell, epoch, change, own_details);
    return;
  }
  BookShared(cell, epoch, change);
  shared_details();
  Count(process_region.header().shared_bytes, change.allocated_bytes + change.freed_bytes);
}

// For samples, whose sites have the size class.
inline void BookAllocated(Where where, uint64_t epoch, const SampleWeight& weight) {
  BookIn(
      where, epoch, {.allocated_bytes = weight.bytes, .allocated_count = weight.blocks}, [] {},
      [] {});
}
template <typename In>
[[gnu::always_inline]] inline void BookAllocated(In where, uint64_t epoch, uint64_t size) {
  BookIn(
      where, epoch, {.allocated_bytes = size, .allocated_count = 1},
      [&]() __attribute__((always_inline)) { BookSize(process_region, where.cell(), size); },
      [&] { BookSizeShared(process_region, where.cell(), size); });
}

// `is_temporary` returns whether the freed block was temporary.
template <typename In, typename IsTemporary>
[[gnu::always_inline]] inline void BookFreed(In where, uint64_t epoch, const SampleWeight& weight,
                                             IsTemporary is_temporary) {
  BookIn(
      where, epoch, {.freed_bytes = weight.bytes, .freed_count = weight.blocks},
      [&]() __attribute__((always_inline)) {
        if (is_temporary())
          BookTemporary(process_region, where.cell(), weight.bytes, weight.blocks);
      },
      [&] {
        if (is_temporary())
          BookTemporaryShared(process_region, where.cell(), weight.bytes, weight.blocks);
      });
}
inline bool IsNotTemporary() { return false; }

// --- which block is temporary: one that its thread allocated last (tables/last_allocations.h) ---

inline void NoteAllocation(void* address, uint32_t cell) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (temporary_threshold == 1) {
    thread_state.last = {at, cell};
  } else if (thread_state.slot != nullptr) {
    thread_state.slot->last.Note(at, cell, temporary_threshold);
  }
}

// True if a block that this thread frees now is a temporary one.
inline bool IsTemporary(void* address, uint32_t cell) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (temporary_threshold == 1) return thread_state.last.Is(at, cell);
  const ThreadSlot* slot = thread_state.slot;
  return slot != nullptr && slot->last.Have(at, cell, temporary_threshold);
}

// --- scopes that watch threads (state/counting.h) -------------------------------------------------

// While scopes watch threads: adds to the growth of the block's allocating thread.
inline void WatchAllocated(ThreadSlot* slot, uint64_t bytes, uint64_t freed_bytes = 0) {
  if (slot == nullptr) return;
  const auto change = static_cast<int64_t>(bytes - freed_bytes);
  const int64_t now = slot->watched_live.fetch_add(change, std::memory_order_relaxed) + change;
  if (now > slot->watched_peak) slot->watched_peak = now;
}
inline void WatchFreed(uint32_t cell, uint64_t bytes) {
  ThreadSlot* owner = slot_cells.Owner(cell);
  if (owner == nullptr) return;
  owner->watched_live.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}
// A block that replaces another one: the two never exist together.
inline void WatchReallocated(ThreadSlot* slot, uint64_t bytes, uint32_t freed_cell,
                             uint64_t freed_bytes) {
  if (slot != nullptr && slot_cells.Owner(freed_cell) == slot) {
    WatchAllocated(slot, bytes, freed_bytes);
    return;
  }
  WatchFreed(freed_cell, freed_bytes);
  WatchAllocated(slot, bytes);
}

}  // namespace memprof

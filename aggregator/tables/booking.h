// Booking: one event's change of one cell.
//
// Book: the caller owns the cell. The sequence is odd during the change, so that a reader in
// another process sees all of it or nothing. Every store of the change is a release: a reader that
// acquires one of them sees the odd sequence too. The final release of the even sequence shows the
// whole change (core/region/region_reader). On x86-64 these are plain stores.
//
// BookShared: many threads write the cell. Counters are atomic adds; peak_* is best effort.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

struct CellChange {
  uint64_t allocated_bytes = 0;
  uint64_t allocated_count = 0;
  uint64_t freed_bytes = 0;
  uint64_t freed_count = 0;
};

namespace booking_detail {

// For a word that only this thread writes. The store is a release. It is in assembly because the
// compiler makes three instructions of a load and a store.
[[gnu::always_inline]] inline void Add(std::atomic<uint64_t>& counter, uint64_t amount) {
#ifdef __SANITIZE_THREAD__
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_release);
#else
  __asm__ volatile("addq %1, %0"
                   : "+m"(reinterpret_cast<uint64_t&>(counter))
                   : "er"(amount)
                   : "memory", "cc");
#endif
}

[[gnu::always_inline]] inline void Increment(std::atomic<uint32_t>& counter) {
#ifdef __SANITIZE_THREAD__
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
#else
  __asm__ volatile("addl $1, %0" : "+m"(reinterpret_cast<uint32_t&>(counter)) : : "memory", "cc");
#endif
}

inline void KeepPeak(Cell& cell) {
  auto live = [](const std::atomic<uint64_t>& in, const std::atomic<uint64_t>& out) {
    return static_cast<int64_t>(in.load(std::memory_order_relaxed) -
                                out.load(std::memory_order_relaxed));
  };
  cell.peak_bytes.store(live(cell.allocated_bytes, cell.freed_bytes), std::memory_order_release);
  cell.peak_count.store(live(cell.allocated_count, cell.freed_count), std::memory_order_release);
}

}  // namespace booking_detail

// `details` changes the figures beside the cell; it is called within the odd sequence and before
// the counters.
template <typename Details>
[[gnu::always_inline]] inline void Book(Cell& cell, uint64_t epoch, const CellChange& change,
                                        Details details) {
  using booking_detail::Add;
  booking_detail::Increment(cell.sequence);
  if (__builtin_expect(cell.epoch.load(std::memory_order_relaxed) != epoch, 0)) {
    booking_detail::KeepPeak(cell);
    cell.epoch.store(epoch, std::memory_order_release);
  }
  details();
  if (change.allocated_count != 0) {
    Add(cell.allocated_bytes, change.allocated_bytes);
    Add(cell.allocated_count, change.allocated_count);
  }
  if (change.freed_count != 0) {
    Add(cell.freed_bytes, change.freed_bytes);
    Add(cell.freed_count, change.freed_count);
  }
  booking_detail::Increment(cell.sequence);
}
inline void Book(Cell& cell, uint64_t epoch, const CellChange& change) {
  Book(cell, epoch, change, [] {});
}

// Books bytes without blocks, for a figure that is one number.
inline void BookBytes(Cell& cell, uint64_t epoch, uint64_t allocated, uint64_t freed) {
  booking_detail::Increment(cell.sequence);
  if (cell.epoch.load(std::memory_order_relaxed) != epoch) {
    booking_detail::KeepPeak(cell);
    cell.epoch.store(epoch, std::memory_order_release);
  }
  booking_detail::Add(cell.allocated_bytes, allocated);
  booking_detail::Add(cell.freed_bytes, freed);
  booking_detail::Increment(cell.sequence);
}

inline void BookShared(Cell& cell, uint64_t epoch, const CellChange& change) {
  uint64_t seen = cell.epoch.load(std::memory_order_relaxed);
  if (IsEpochBefore(seen, epoch) &&
      cell.epoch.compare_exchange_strong(seen, epoch, std::memory_order_relaxed)) {
    booking_detail::KeepPeak(cell);
  }
  cell.allocated_bytes.fetch_add(change.allocated_bytes, std::memory_order_relaxed);
  cell.allocated_count.fetch_add(change.allocated_count, std::memory_order_relaxed);
  cell.freed_bytes.fetch_add(change.freed_bytes, std::memory_order_relaxed);
  cell.freed_count.fetch_add(change.freed_count, std::memory_order_relaxed);
}

}  // namespace memprof

// DetailBooking: an event's change of its cell's details: the block's size class, and whether it
// was temporary.
//
// Nearly every place allocates blocks of one size class. So a cell keeps only that class until a
// block of a second one comes. Then it takes a record with a count for each class, and enters the
// earlier counts there: the record is complete from its begin. If there is no record left, the cell
// counts into RegionHeader.other_sizes from then on, so that the program's sizes stay exact.
//
//   sizes   0 ─► class + 1 ─► kOwnSizes | record
//                          └► kSizesElsewhere        (always, for shared cells)
//
// Thread safety: BookSize and BookTemporary are for the cell's owner, while its sequence is odd and
// BEFORE the cell's own counters take the event; the …Shared ones for any thread.
// Memory order: as the cell's: stores are releases between the odd and the even sequence
// (booking.h). `sizes` is released after the record that it names was filled.
// Failure: never.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/tables/booking.h"
#include "core/protocol/sample_weight.h"

namespace memprof {

// As SizeClass for sizes that can be booked (below 2^47), without a branch.
inline uint32_t BookedSizeClass(uint64_t size) {
  return 63u ^ static_cast<uint32_t>(__builtin_clzll(2 * size + 1));
}

// The cell has blocks of another class than `size`'s, or none yet, or counts elsewhere.
[[gnu::noinline]] void BookOtherSize(const Region& region, uint32_t cell, uint64_t size);

namespace detail_booking_detail {

inline void AddOwn(SizeCounts& counts, uint32_t size_class, uint64_t bytes, uint64_t count) {
  booking_detail::Add(counts.classes[size_class].bytes, bytes);
  booking_detail::Add(counts.classes[size_class].count, count);
}

}  // namespace detail_booking_detail

[[gnu::always_inline]] inline void BookSize(const Region& region, uint32_t cell, uint64_t size) {
  const uint32_t sizes = region.details()[cell].sizes.load(std::memory_order_relaxed);
  const uint32_t size_class = BookedSizeClass(size);
  if (sizes == size_class + 1) return;
  if (const uint32_t record = sizes - kOwnSizes; record < kMaxSizeCounts) {
    detail_booking_detail::AddOwn(region.size_counts()[record], size_class, size, 1);
    return;
  }
  BookOtherSize(region, cell, size);
}

inline void BookTemporary(const Region& region, uint32_t cell, uint64_t bytes, uint64_t count) {
  booking_detail::Add(region.details()[cell].temporary_bytes, bytes);
  booking_detail::Add(region.details()[cell].temporary_count, count);
}

void BookSizeShared(const Region& region, uint32_t cell, uint64_t size);

inline void BookTemporaryShared(const Region& region, uint32_t cell, uint64_t bytes,
                                uint64_t count) {
  region.details()[cell].temporary_bytes.fetch_add(bytes, std::memory_order_relaxed);
  region.details()[cell].temporary_count.fetch_add(count, std::memory_order_relaxed);
}

}  // namespace memprof

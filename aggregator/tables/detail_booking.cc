#include "aggregator/tables/detail_booking.h"

namespace memprof {
namespace {

using detail_booking_detail::AddOwn;

void AddElsewhere(const Region& region, uint32_t size_class, uint64_t bytes, uint64_t count) {
  auto& sum = region.header().other_sizes.classes[size_class];
  sum.bytes.fetch_add(bytes, std::memory_order_relaxed);
  sum.count.fetch_add(count, std::memory_order_relaxed);
}

// The place in which the cell counts its block sizes from now on: all were of one class before.
uint32_t SecondClass(const Region& region, const Cell& cell, uint32_t first_class) {
  const uint64_t bytes = cell.allocated_bytes.load(std::memory_order_relaxed);
  const uint64_t count = cell.allocated_count.load(std::memory_order_relaxed);
  const uint32_t record = region.Take(Table::kSizeCounts);
  if (record == kNoRecord) {
    AddElsewhere(region, first_class, bytes, count);
    return kSizesElsewhere;
  }
  AddOwn(region.size_counts()[record], first_class, bytes, count);
  return kOwnSizes | record;
}

}  // namespace

void BookOtherSize(const Region& region, uint32_t cell, uint64_t size) {
  CellDetails& details = region.details()[cell];
  const uint32_t size_class = BookedSizeClass(size);
  uint32_t sizes = details.sizes.load(std::memory_order_relaxed);
  if (sizes == 0) {
    details.sizes.store(size_class + 1, std::memory_order_release);
    return;
  }
  if ((sizes & kOwnSizes) == 0) {
    sizes = SecondClass(region, region.cells()[cell], sizes - 1);
    details.sizes.store(sizes, std::memory_order_release);
  }
  if (sizes == kSizesElsewhere) {
    AddElsewhere(region, size_class, size, 1);
  } else {
    AddOwn(region.size_counts()[sizes - kOwnSizes], size_class, size, 1);
  }
}

void BookSizeShared(const Region& region, uint32_t cell, uint64_t size) {
  region.details()[cell].sizes.store(kSizesElsewhere, std::memory_order_relaxed);
  AddElsewhere(region, BookedSizeClass(size), size, 1);
}

}  // namespace memprof

// The sizes of a cell are exactly those that were booked, for any sizes and any number of cells.
#include "aggregator/tables/detail_booking.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

#include "aggregator/tables/booking.h"
#include "core/count.h"
#include "tests/aggregator/tables/test_region.h"

namespace memprof {
namespace {

using Sizes = std::map<uint32_t, std::pair<uint64_t, uint64_t>>;  // class → (bytes, blocks)

void Allocate(const Region& region, uint32_t cell, uint64_t size) {
  Book(region.cells()[cell], 1, {.allocated_bytes = size, .allocated_count = 1},
       [&] { BookSize(region, cell, size); });
}

void Add(const SizeCounts& counts, Sizes& sizes) {
  for (uint32_t k = 0; k < kSizeClasses; ++k) {
    if (counts.classes[k].count == 0) continue;
    sizes[k].first += counts.classes[k].bytes;
    sizes[k].second += counts.classes[k].count;
  }
}

// The sizes of a cell as a reader sees them; empty if the cell counts elsewhere.
Sizes SizesOf(const Region& region, uint32_t cell) {
  Sizes sizes;
  const uint32_t word = region.details()[cell].sizes;
  const Cell& figures = region.cells()[cell];
  if (word == 0 || word == kSizesElsewhere) return sizes;
  if ((word & kOwnSizes) == 0)
    return {{word - 1, {figures.allocated_bytes, figures.allocated_count}}};
  Add(region.Records<SizeCounts>(Table::kSizeCounts)[word & ~kOwnSizes], sizes);
  return sizes;
}

TEST(BookedSizeClass, IsTheSizeClassOfEverySizeThatCanBeBooked) {
  for (uint64_t power = 1; power <= uint64_t{1} << 46; power *= 2) {
    for (const uint64_t size : {power - 1, power, power + 1}) {
      EXPECT_EQ(BookedSizeClass(size), SizeClass(size)) << size;
    }
  }
  EXPECT_EQ(BookedSizeClass((uint64_t{1} << 47) - 1), kSizeClasses - 1);
}

TEST(DetailBooking, TakesNoRecordForSizesOfOneClass) {
  TestRegion region;
  for (const uint64_t size : {64u, 100u, 127u}) Allocate(region.get(), 5, size);
  EXPECT_EQ(SizesOf(region.get(), 5), (Sizes{{7, {291, 3}}}));
  EXPECT_EQ(region.get().count(Table::kSizeCounts), 0u);
}

TEST(DetailBooking, EntersWhatWasThereBeforeTheSecondClassCame) {
  TestRegion region;
  for (const uint64_t size : {64u, 100u, 8u, 127u, 0u}) Allocate(region.get(), 5, size);
  EXPECT_EQ(SizesOf(region.get(), 5), (Sizes{{0, {0, 1}}, {4, {8, 1}}, {7, {291, 3}}}));
  EXPECT_EQ(region.get().count(Table::kSizeCounts), 1u);
}

TEST(DetailBooking, LosesNothingWhenThereAreNoMoreRecords) {
  TestRegion region(1 << 20);
  const uint32_t records = region.get().capacity(Table::kSizeCounts);
  const uint32_t cells = records + 100;
  std::mt19937_64 random(3);
  std::vector<Sizes> expected(cells);
  for (int i = 0; i < 50'000; ++i) {
    const auto cell = static_cast<uint32_t>(random() % cells);
    const uint64_t size = random() % (uint64_t{1} << random() % 20);
    Allocate(region.get(), cell, size);
    expected[cell][SizeClass(size)].first += size;
    expected[cell][SizeClass(size)].second += 1;
  }
  Sizes elsewhere;
  uint32_t without_record = 0;
  for (uint32_t cell = 0; cell < cells; ++cell) {
    if (region.get().details()[cell].sizes != kSizesElsewhere) {
      EXPECT_EQ(SizesOf(region.get(), cell), expected[cell]) << cell;
      continue;
    }
    ++without_record;
    for (const auto& [k, count] : expected[cell]) {
      elsewhere[k].first += count.first;
      elsewhere[k].second += count.second;
    }
  }
  EXPECT_EQ(without_record, 100u);
  Sizes found;
  Add(region.get().header().other_sizes, found);
  EXPECT_EQ(found, elsewhere);
}

TEST(DetailBooking, LosesNoSharedEventOfManyThreads) {
  TestRegion region;
  std::thread threads[4];
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (uint64_t i = 0; i < 10'000; ++i) {
        BookSizeShared(region.get(), 9, i % 2 == 0 ? 10 : 1000);
        BookTemporaryShared(region.get(), 9, 10, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Sizes found;
  Add(region.get().header().other_sizes, found);
  EXPECT_EQ(found, (Sizes{{4, {200'000, 20'000}}, {10, {20'000'000, 20'000}}}));
  EXPECT_EQ(region.get().details()[9].temporary_bytes, 400'000u);
  EXPECT_EQ(region.get().details()[9].temporary_count, 40'000u);
}

// As a reader in another process: the sizes always agree with the figures.
TEST(DetailBooking, ShowsAReaderTheSizesOfTheFigures) {
  TestRegion region;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t i = 0; i < 200'000; ++i) Allocate(region.get(), 3, i < 1000 ? 70 : i % 300);
    done = true;
  });
  uint64_t torn = 0;
  const Cell& cell = region.get().cells()[3];
  while (!done) {
    const uint32_t before = cell.sequence.load(std::memory_order_acquire);
    const uint64_t count = cell.allocated_count.load(std::memory_order_acquire);
    const uint64_t bytes = cell.allocated_bytes.load(std::memory_order_acquire);
    Count sum;
    const uint32_t word = region.get().details()[3].sizes.load(std::memory_order_acquire);
    if ((word & kOwnSizes) != 0) {
      const auto& own = region.get().Records<SizeCounts>(Table::kSizeCounts)[word & ~kOwnSizes];
      for (const auto& share : own.classes) {
        sum += {share.bytes.load(std::memory_order_acquire),
                share.count.load(std::memory_order_acquire)};
      }
    }
    const uint32_t after = cell.sequence.load(std::memory_order_acquire);
    const bool whole = before == after && before % 2 == 0;
    if (whole && (word & kOwnSizes) != 0 && sum != Count{bytes, count}) ++torn;
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
}

}  // namespace
}  // namespace memprof

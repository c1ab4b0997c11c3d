#include "aggregator/tables/booking.h"

#include <gtest/gtest.h>

#include <thread>

#include "aggregator/tables/peak_tracker.h"

namespace memprof {
namespace {

TEST(Booking, LeavesTheSequenceEvenAfterAnEvent) {
  Cell cell = {};
  Book(cell, 1, {.allocated_bytes = 10, .allocated_count = 1});
  EXPECT_EQ(cell.sequence, 2u);
  EXPECT_EQ(cell.allocated_bytes, 10u);
}

TEST(Booking, KeepsTheLiveFiguresOfTheMomentAnEpochBegan) {
  Cell cell = {};
  Book(cell, 1, {.allocated_bytes = 10, .allocated_count = 1});
  Book(cell, 2, {.freed_bytes = 4, .freed_count = 1});
  Book(cell, 2, {.allocated_bytes = 100, .allocated_count = 1});
  EXPECT_EQ(cell.peak_bytes, 10);
  EXPECT_EQ(cell.peak_count, 1);
}

TEST(Epochs, AreOrderedAcrossTheirEnd) {
  EXPECT_EQ(NextEpoch(5), 6u);
  EXPECT_EQ(NextEpoch(kEpochMask), 1u);
  EXPECT_TRUE(IsEpochAfter(1, kEpochMask));
  EXPECT_TRUE(IsEpochBefore(kEpochMask, 1));
  EXPECT_FALSE(IsEpochAfter(kEpochMask, 1));
  for (const uint64_t epoch : {uint64_t{1}, uint64_t{7}, kEpochMask / 2, kEpochMask}) {
    EXPECT_FALSE(IsEpochBefore(epoch, epoch));
    EXPECT_FALSE(IsEpochAfter(epoch, epoch));
    EXPECT_TRUE(IsEpochBefore(0, epoch));
    EXPECT_FALSE(IsEpochAfter(0, epoch));
  }
  // A cell that nothing touched for most of a round is old, not new.
  EXPECT_TRUE(IsEpochBefore(50, (uint64_t{1} << 32) + 100));
  EXPECT_TRUE(IsEpochBefore(50, kEpochMask - (uint64_t{1} << 28)));
}

TEST(Epochs, OfTheWordComeRoundAsThoseOfCells) {
  PackedPeak word = Pack({100, 100, kEpochMask, true, false, 0});
  const uint64_t epoch = PeakTracker(&word).Record(0, 30);
  EXPECT_EQ(epoch, 1u);
  EXPECT_EQ(Unpack(word).epoch, epoch);
  word = Pack({100, 100, kEpochMask, true, false, 0});
  PeakState before;
  PeakState state = Unpack(word);
  PeakTracker tracker(&word);
  ASSERT_TRUE(tracker.EndSegment(state, before));
  EXPECT_EQ(Unpack(word).epoch, 1u);
}

// Epochs have 33 bits.
TEST(Booking, KeepsTheFiguresOfASharedCellAlsoWhenEpochsComeRound) {
  constexpr uint64_t kLast = (uint64_t{1} << 33) - 1;
  Cell cell = {};
  BookShared(cell, kLast, {.allocated_bytes = 10, .allocated_count = 1});
  BookShared(cell, 1, {.allocated_bytes = 100, .allocated_count = 1});
  BookShared(cell, kLast, {.allocated_bytes = 7, .allocated_count = 1});  // one that was late
  EXPECT_EQ(cell.peak_bytes, 10);
  EXPECT_EQ(cell.epoch, 1u);
}

TEST(Booking, LosesNoSharedEventOfManyThreads) {
  Cell cell = {};
  std::thread threads[4];
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (uint64_t i = 0; i < 20000; ++i) {
        BookShared(cell, i, {.allocated_bytes = 3, .allocated_count = 1});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cell.allocated_bytes, 3u * 4 * 20000);
  EXPECT_EQ(cell.allocated_count, 4u * 20000);
}

// A reader that follows the sequence protocol never sees half of an event.
TEST(Booking, ShowsAReaderWholeEventsOnly) {
  Cell cell = {};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t i = 0; i < 200000; ++i) {
      Book(cell, i, {.allocated_bytes = 8, .allocated_count = 1});
    }
    done = true;
  });
  uint64_t torn = 0;
  while (!done) {
    const uint32_t before = cell.sequence.load(std::memory_order_acquire);
    const uint64_t bytes = cell.allocated_bytes.load(std::memory_order_acquire);
    const uint64_t count = cell.allocated_count.load(std::memory_order_acquire);
    const uint32_t after = cell.sequence.load(std::memory_order_acquire);
    if (before == after && before % 2 == 0 && bytes != count * 8) ++torn;
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
}

}  // namespace
}  // namespace memprof

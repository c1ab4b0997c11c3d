#include "core/inspect/live_blocks.h"

#include <gtest/gtest.h>

#include "tests/core/inspect/made_memory.h"

namespace memprof {
namespace {

constexpr uint64_t kMap = 0x10000;
constexpr uint64_t kBuckets = 0x20000;
constexpr uint64_t kGroups = 0x80000;

// A table of two buckets and one group.
class Table {
 public:
  explicit Table(uint64_t state = 2) {
    memory.Write(kMap, state);
    memory.Write(kMap + 8, kBuckets);
    memory.Write(kMap + 16, kGroups);
    memory.Write(kMap + 80, 1);
  }

  void PutInBucket(uint64_t bucket, uint64_t slot, uint64_t key, uint64_t value) {
    Put(kBuckets + 256 * bucket + 16 * slot, key, value);
  }
  void PutInGroup(uint64_t slot, uint64_t key, uint64_t value) {
    Put(kGroups + 16 * slot, key, value);
  }
  std::vector<LiveBlock> Read() const { return ReadLiveMap(memory, kMap).value(); }

  MadeMemory memory;

 private:
  void Put(uint64_t at, uint64_t key, uint64_t value) {
    memory.Write(at, key);
    memory.Write(at + 8, value);
  }
};

constexpr uint64_t Value(uint64_t size, uint64_t cell) { return size | cell << 40; }

using Blocks = std::vector<LiveBlock>;

TEST(LiveBlocks, AreThoseOfBucketsAndGroupsByAddress) {
  Table table;
  table.PutInBucket(1, 3, 0x7000, Value(100, 5));
  table.PutInBucket(0, 0, 0x8000, Value(0, 6));
  table.PutInGroup(6, 0x6008, Value(7, 8));
  EXPECT_EQ(table.Read(), (Blocks{{0x6008, 7, 8}, {0x7000, 100, 5}, {0x8000, 0, 6}}));
}

TEST(LiveBlocks, LeaveOutLinksAndUnfinishedInserts) {
  Table table;
  table.PutInBucket(0, 15, 1, 1);       // a link to a group
  table.PutInGroup(7, 0x5000, 0x6000);  // the same
  table.PutInBucket(0, 1, 0x7000 | kSlotTentative, Value(100, 5));
  EXPECT_EQ(table.Read(), Blocks{});
}

TEST(LiveBlocks, HaveSizesAbove40Bits) {
  Table table;
  table.PutInBucket(0, 0, 0x7000 | uint64_t{3} << 47, Value(5, 2));
  EXPECT_EQ(table.Read(), (Blocks{{0x7000, (uint64_t{3} << 40) + 5, 2}}));
}

TEST(LiveBlocks, CountABlockOnceWhileItIsMoved) {
  Table table(1 | kMapSplitting);
  table.PutInBucket(0, 0, 0x7000 | kSlotMoving, Value(100, 5));
  table.PutInGroup(0, 0x7000, Value(0, 0));  // the copy, whose value isn't there yet
  EXPECT_EQ(table.Read(), (Blocks{{0x7000, 100, 5}}));
}

TEST(LiveBlocks, CountOnlyTheCopyOnceTheBucketIsThere) {
  Table table;
  table.PutInBucket(0, 0, 0x7000 | kSlotMoving, Value(100, 5));
  table.PutInBucket(1, 0, 0x7000, Value(100, 5));
  table.PutInBucket(0, 1, 0x8000 | kSlotMoving, Value(200, 5));  // whose copy was freed
  EXPECT_EQ(table.Read(), (Blocks{{0x7000, 100, 5}}));
}

TEST(LiveBlocks, LeaveOutABlockThatWasFreedWhileItWasMoved) {
  Table table(1 | kMapSplitting);
  table.PutInBucket(0, 0, 0x7000 | kSlotMoving | kSlotTaken, Value(100, 5));
  table.PutInGroup(0, 0x7000, Value(100, 5));
  EXPECT_EQ(table.Read(), Blocks{});
}

TEST(LiveBlocks, OfADamagedTableAreAnError) {
  for (const uint64_t state : {uint64_t{1} << 40, ~uint64_t{0}}) {
    EXPECT_FALSE(ReadLiveMap(Table(state).memory, kMap).has_value());
  }
  Table table;
  table.memory.Write(kMap + 8, ~uint64_t{0});
  EXPECT_FALSE(ReadLiveMap(table.memory, kMap).has_value());
  Table groups;
  groups.memory.Write(kMap + 80, uint64_t{1} << 60);
  EXPECT_FALSE(ReadLiveMap(groups.memory, kMap).has_value());
}

TEST(LiveBlocks, AreNoneBeforeTheTableIsMade) {
  EXPECT_EQ(ReadLiveMap(MadeMemory(), kMap).value(), Blocks{});
}

TEST(LiveBlocks, HaveThoseThatWereInherited) {
  Table table;
  table.PutInBucket(0, 0, 0x7000, Value(100, 5));
  constexpr uint64_t kOld = 0x90000, kOldBuckets = 0xa0000;
  table.memory.Write(kOld + 128, 1);
  table.memory.Write(kOld + 128 + 8, kOldBuckets);
  for (const uint64_t address : {0x6000u, 0x7000u}) {
    table.memory.Write(kOldBuckets + address / 0x1000 * 16, address);
    table.memory.Write(kOldBuckets + address / 0x1000 * 16 + 8, Value(8, 1));
  }
  HeapPlaces places = {};
  places.live_map = kMap;
  places.inherited_maps = kOld;
  places.inherited_count = 2;
  places.inherited_stride = 128;
  EXPECT_EQ(ReadLiveBlocks(table.memory, places).value(),
            (Blocks{{0x6000, 8, 1, true}, {0x7000, 100, 5, false}}));
  places.inherited_stride = 0;
  EXPECT_FALSE(ReadLiveBlocks(table.memory, places).has_value());
}

}  // namespace
}  // namespace memprof

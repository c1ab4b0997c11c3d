#include "aggregator/basics/region.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

constexpr uint64_t kBytes = 1 << 20;

// A header alone: nothing else is read.
struct HeaderOnly {
  HeaderOnly() {
    header.magic = kRegionMagic;
    header.version = kRegionVersion;
    header.header_bytes = sizeof(RegionHeader);
    header.region_bytes = kBytes;
    for (TableInfo& table : header.tables) table = {kPageBytes, 1, 8};
    accounts().capacity = kPeakAccounts;
  }
  bool IsTaken() { return Region().Attach(&header, kBytes); }
  TableInfo& nodes() { return header.tables[static_cast<size_t>(Table::kNodes)]; }
  TableInfo& accounts() { return header.tables[static_cast<size_t>(Table::kPeakAccounts)]; }
  RegionHeader header = {};
};

TEST(Region, IsTakenWhereItsTablesFit) { EXPECT_TRUE(HeaderOnly().IsTaken()); }

TEST(Region, IsRefusedWhereATableReachesBeyondItsEnd) {
  for (const TableInfo& table : {TableInfo{kBytes, 1, 8}, TableInfo{kPageBytes, 0xffffffffu, 8},
                                 TableInfo{kPageBytes, 0xffffffffu, 0xffffffffu},
                                 // The sum runs round.
                                 TableInfo{~uint64_t{0} - 7, 2, 8}}) {
    HeaderOnly region;
    region.nodes() = table;
    EXPECT_FALSE(region.IsTaken()) << table.offset << " " << table.capacity;
  }
}

// Every slot has an account: nobody looks whether there is one.
TEST(Region, IsRefusedWithoutAnAccountForEverySlot) {
  HeaderOnly region;
  --region.accounts().capacity;
  EXPECT_FALSE(region.IsTaken());
}

TEST(Region, IsRefusedWhereItIsLargerThanItsMemory) {
  HeaderOnly region;
  region.header.region_bytes = kBytes + 1;
  EXPECT_FALSE(region.IsTaken());
}

// A slot that is freed under a child has zeros instead of its header, and any followed process may
// write there.
TEST(Region, KeepsWhereItsTablesLieWhateverItsHeaderSaysLater) {
  HeaderOnly memory;
  memory.nodes() = {2 * kPageBytes, 7, 16};
  Region region;
  ASSERT_TRUE(region.Attach(&memory.header, kBytes));
  const auto* nodes = region.Records<NodeRecord>(Table::kNodes);
  for (const TableInfo info : {TableInfo{}, TableInfo{~uint64_t{0}, 0xffffffffu, 1}}) {
    for (TableInfo& table : memory.header.tables) table = info;
    EXPECT_EQ(region.Records<NodeRecord>(Table::kNodes), nodes);
    EXPECT_EQ(region.capacity(Table::kNodes), 7u);
  }
  for (const uint32_t count : {0u, 6u, 7u, 0xffffffffu}) {
    memory.header.counts[static_cast<size_t>(Table::kNodes)] = count;
    EXPECT_LE(region.count(Table::kNodes), 7u);
    const uint32_t taken = region.Take(Table::kNodes);
    EXPECT_TRUE(taken < 7 || taken == kNoRecord) << taken;
  }
}

}  // namespace
}  // namespace memprof

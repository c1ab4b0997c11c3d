#include "aggregator/region.h"

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
  }
  bool IsTaken() { return Region().Attach(&header, kBytes); }
  TableInfo& nodes() { return header.tables[static_cast<size_t>(Table::kNodes)]; }
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

TEST(Region, IsRefusedWhereItIsLargerThanItsMemory) {
  HeaderOnly region;
  region.header.region_bytes = kBytes + 1;
  EXPECT_FALSE(region.IsTaken());
}

}  // namespace
}  // namespace memprof

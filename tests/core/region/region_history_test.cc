#include "core/region/region_history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/region/region_reader.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

using Kind = MadeRegion::Kind;

void Fill(Cell& cell, uint64_t allocated, uint64_t allocations, uint64_t freed, uint64_t frees) {
  cell.allocated_bytes = allocated;
  cell.allocated_count = allocations;
  cell.freed_bytes = freed;
  cell.freed_count = frees;
}

RegionMoment MomentOf(const MadeRegion& region, uint64_t time_ms) {
  auto moment = ReadMoment(region.fd(), time_ms);
  EXPECT_TRUE(moment.has_value());
  return *moment;
}

class RegionHistoryTest : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RegionHistoryTest, testing::Values(Kind::kMemory, Kind::kFile),
                         [](const auto& kind) {
                           return kind.param == Kind::kMemory ? "InMemory" : "InAFile";
                         });

TEST_P(RegionHistoryTest, OfARegionThatStandsStillIsExact) {
  MadeRegion region(GetParam());
  const uint32_t site = region.Site(region.Node(0, 0x5010));
  Fill(region.NewCell(site), 100, 2, 0, 0);
  Fill(region.NewCell(site), 0, 0, 60, 1);
  const RegionMoment moment = MomentOf(region, 7);
  EXPECT_EQ(moment.time_ms, 7u);
  EXPECT_FALSE(moment.inexact);
  ASSERT_EQ(moment.sites->size(), 1u);
  EXPECT_EQ(moment.sites->at(0).site, site);
  EXPECT_EQ(moment.sites->at(0).live, (Count{40, 1}));
}

TEST_P(RegionHistoryTest, FollowsMappingsFromMomentToMoment) {
  MadeRegion region(GetParam());
  const uint32_t site = region.Site(region.Node(0, 0x5010));
  region.count(Table::kMappingSites) = 2;
  auto& mapping = region.At<MappingSiteRecord>(Table::kMappingSites, 1);
  mapping.site_plus_one = site + 1;
  RegionHistory history = {{4, {{0, 0, 4096}}}, 16, {}, {}, 0, {}};
  history.moments.push_back(MomentOf(region, 16));
  EXPECT_EQ(history.moments[0].mappings, nullptr);
  for (const uint64_t pages : {1u, 2u, 2u, 0u}) {
    mapping.live_bytes = pages * 4096;
    mapping.live_count = pages;
    mapping.total_bytes = mapping.total_count = 3;
    history.moments.push_back(MomentOf(region, 16 * history.moments.size() + 16));
  }
  const auto snapshot = ReadRegion(region.fd(), {}, history);
  ASSERT_TRUE(snapshot.has_value());
  const std::vector<SnapshotMapping>& rows = (*snapshot)->mappings.rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].history, (LiveHistory{{1, {4096, 1}}, {2, {8192, 2}}, {4, {0, 0}}}));
}

TEST_P(RegionHistoryTest, FollowsEachSiteFromMomentToMoment) {
  MadeRegion region(GetParam());
  const uint32_t module = region.Module("/bin/m", 0x5000);
  const uint32_t grows = region.Site(region.Node(0, 0x5010, module));
  const uint32_t goes = region.Site(region.Node(0, 0x5020, module));
  Cell& grows_cell = region.NewCell(grows);
  Cell& goes_cell = region.NewCell(goes);
  RegionHistory history = {{4, {{0, 0, 4096}}}, 16, {}, {}, 0, {}};
  Fill(grows_cell, 10, 1, 0, 0);
  history.moments.push_back(MomentOf(region, 16));
  Fill(goes_cell, 70, 7, 0, 0);
  history.moments.push_back(MomentOf(region, 32));
  history.moments.push_back(MomentOf(region, 48));
  Fill(grows_cell, 30, 3, 0, 0);
  Fill(goes_cell, 70, 7, 70, 7);
  history.moments.push_back(MomentOf(region, 64));

  const Result<Snapshot> s = ReadRegion(region.fd(), {}, history);
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->timeline, history.timeline);
  EXPECT_EQ(s->moments, (Moments{16, {{16, false}, {32, false}, {48, false}, {64, false}}}));
  ASSERT_EQ(s->sites.size(), 2u);
  EXPECT_EQ(s->sites[0].history, (LiveHistory{{0, {10, 1}}, {3, {30, 3}}}));
  EXPECT_EQ(s->sites[1].history, (LiveHistory{{1, {70, 7}}, {3, {0, 0}}}));
}

TEST_P(RegionHistoryTest, SaysWhenEventsRacedTheReading) {
  MadeRegion region(GetParam());
  Cell& cell = region.NewCell(region.Site(region.Node(0, 0x5010)));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    // The live bytes never change, but the block is another one each time: threads hold nothing
    // back.
    for (uint64_t i = 1; !stop; ++i) Fill(cell, 100 * i, i, 100 * i, i);
  });
  bool raced = false;
  // A busy machine may run the two by turns for long.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!raced && std::chrono::steady_clock::now() < deadline) {
    raced = MomentOf(region, 1).inexact;
  }
  stop = true;
  writer.join();
  EXPECT_TRUE(raced);
  EXPECT_FALSE(MomentOf(region, 1).inexact);
}

TEST(RegionHistory, BelievesNoFigureBelowZero) {
  MadeRegion region;
  Fill(region.NewCell(region.Site(region.Node(0, 0x5010))), 0, 0, 100, 1);
  EXPECT_TRUE(MomentOf(region, 1).sites->empty());
}

}  // namespace
}  // namespace memprof

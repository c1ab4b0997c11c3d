#include "cli/live/live_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

using std::chrono::seconds;

// A look at which `load` has some live bytes and made some allocations; `main` holds 100 bytes.
std::vector<LiveProfile> LookWith(uint64_t live, uint64_t made, uint64_t number = 1) {
  ProfileBuilder b("demo");
  b.Site({{"main", "main.cc", 3}}, {{100, 1}, {100, 1}, {100, 1}});
  b.Site({{"main", "main.cc", 3}, {"load", "load.cc", 7}},
         {{live, 1}, {live, 1}, {live * 2, made}});
  return {{b.profile(), {1000, 1000 + number}}};
}

LiveTable::Time At(int second) { return LiveTable::Time() + seconds(second); }

const LiveRow& RowOf(const std::vector<LiveRow>& rows, const std::string& name) {
  for (const LiveRow& row : rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return rows.at(0);
}

TEST(LiveTable, ComparesWithTheLookBeforeAndAMinuteAgo) {
  LiveTable table;
  for (int second = 0; second <= 100; ++second) {
    table.Add(At(second), LookWith(1000 + 10 * static_cast<uint64_t>(second),
                                   50 * static_cast<uint64_t>(second)));
  }
  const auto rows = table.Rows({});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "load");
  EXPECT_EQ(rows[0].place, "load.cc:7");
  EXPECT_EQ(rows[0].now.live.bytes, 2000u);
  EXPECT_EQ(rows[0].change, 10);
  EXPECT_EQ(rows[0].minute, 600);
  EXPECT_DOUBLE_EQ(rows[0].allocations_a_second, 50);
  EXPECT_EQ(RowOf(rows, "main").change, 0);
  EXPECT_EQ(table.totals().live.bytes, 2100u);
  EXPECT_DOUBLE_EQ(table.allocations_a_second(), 50);
}

TEST(LiveTable, RowsSumToTheTotalsWhateverTheyAre) {
  LiveTable table;
  table.Add(At(0), LookWith(500, 2));
  for (const LiveBy by : kAllLiveBys) {
    uint64_t live = 0;
    for (const LiveRow& row : table.Rows({by})) live += row.now.live.bytes;
    EXPECT_EQ(live, table.totals().live.bytes) << NameOf(by);
  }
}

TEST(LiveTable, InclusiveRowsHaveWhatIsCalledOnce) {
  LiveTable table;
  ProfileBuilder b("demo");
  b.Site({{"main"}, {"walk"}, {"walk"}, {"leaf"}}, {{10, 1}, {10, 1}, {10, 1}});
  table.Add(At(0), {{b.profile(), {1}}});
  const auto rows = table.Rows({LiveBy::kFunction, true});
  for (const char* name : {"main", "walk", "leaf"}) {
    EXPECT_EQ(RowOf(rows, name).now.live.bytes, 10u) << name;
  }
}

TEST(LiveTable, TheBaselineLeavesWhatComesAfter) {
  LiveTable table;
  table.Add(At(0), LookWith(500, 2));
  table.SetBaseline();
  table.Add(At(1), LookWith(530, 4));
  const auto rows = table.Rows({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].now.live.bytes, 30u);
  EXPECT_EQ(table.totals().live.bytes, 30u);
  table.ClearBaseline();
  EXPECT_EQ(table.totals().live.bytes, 630u);
}

TEST(LiveTable, TheFilterIgnoresCase) {
  LiveTable table;
  table.Add(At(0), LookWith(500, 2));
  LiveView view;
  view.filter = "LOAD.CC";
  ASSERT_EQ(table.Rows(view).size(), 1u);
  EXPECT_EQ(table.Rows(view)[0].name, "load");
}

TEST(LiveTable, AStackThatIsNewGrewFromNothing) {
  LiveTable table;
  table.Add(At(0), LookWith(500, 2));
  table.Add(At(1), LookWith(500, 2, 2));
  EXPECT_EQ(RowOf(table.Rows({}), "load").change, 500);
}

TEST(NumberStacks, IsTheSameForAStackInEveryLookAndTellsThreadsApart) {
  Snapshot one;
  one.modules = {{"/x/demo", ""}, {"/x/libx.so", ""}};
  one.frames = {{0, 16}, {1, 32}};
  one.nodes = {{}, {0, 0}, {1, 1}};
  one.thread_names = {"main", "worker"};
  one.sites.resize(3);
  one.sites[0].node = 2;
  one.sites[1].node = 2;
  one.sites[1].thread_name = 1;
  one.sites[2].node = 1;
  Snapshot other = one;
  std::swap(other.modules[0], other.modules[1]);
  for (SnapshotFrame& frame : other.frames) frame.module = 1 - frame.module;
  const auto numbers = NumberStacks(one);
  EXPECT_EQ(numbers, NumberStacks(other));
  EXPECT_NE(numbers[0], numbers[1]);
  EXPECT_NE(numbers[0], numbers[2]);
  other.program.pid = 7;
  EXPECT_NE(numbers[0], NumberStacks(other)[0]);
}

}  // namespace
}  // namespace memprof

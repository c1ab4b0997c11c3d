#include "cli/live/live_lines.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

// alloc has 30 bytes: 20 through load, which recurs once, and 10 from main. parse has 5.
std::vector<LiveProfile> OneLook() {
  ProfileBuilder b("demo");
  const TestFrame main = {"main", "main.cc", 3}, load = {"load", "load.cc", 7},
                  alloc = {"alloc", "pool.cc", 9};
  b.Site({main, load, alloc}, {{12, 1}, {12, 1}, {12, 1}});
  b.Site({main, load, load, alloc}, {{8, 1}, {8, 1}, {8, 1}});
  b.Site({main, alloc}, {{10, 1}, {10, 1}, {10, 1}, nullptr, "worker"});
  b.Site({main, {"parse", "parse.cc", 2}}, {{5, 1}, {5, 1}, {5, 1}});
  return {{b.profile(), {1, 2, 3, 4}}};
}

LiveTable OneTable() {
  LiveTable table;
  table.Add(LiveTable::Time(), OneLook());
  return table;
}

// "12 load, 8 …": the live bytes and names, in order.
template <typename Row>
std::string Text(const std::vector<Row>& rows) {
  std::string text;
  for (const LiveRow& row : rows) {
    if (!text.empty()) text += ", ";
    text += std::to_string(row.now.live.bytes) + " " + row.name;
  }
  return text;
}

std::string Text(const LiveLines& lines) {
  std::string text;
  for (const LiveLines::Line& line : lines.lines()) {
    text += std::string(line.path.size() - 1, '.') + std::to_string(line.row.now.live.bytes) + " " +
            line.row.name + "\n";
  }
  return text;
}

template <typename Row>
LiveKey Key(const std::vector<Row>& rows, const std::string& name) {
  for (const LiveRow& row : rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

TEST(LiveCallers, StepsOutFromOwnFiguresAndSumToTheRow) {
  const LiveTable table = OneTable();
  const LiveView view;
  const LiveCallers callers(table, view, false);
  LiveCallers::Path path = {Key(table.Rows(view), "alloc")};
  auto behind = callers.Behind(path);
  EXPECT_EQ(Text(behind), "20 load, 10 main");
  path.push_back(Key(behind, "load"));
  behind = callers.Behind(path);
  EXPECT_EQ(Text(behind), "12 main, 8 load");
  path.push_back(Key(behind, "main"));
  EXPECT_EQ(Text(callers.Behind(path)), "");
}

TEST(LiveCallers, StepsInFromInclusiveFiguresOnceForARecursion) {
  const LiveTable table = OneTable();
  const LiveView view = {LiveBy::kFunction, true};
  const LiveCallers callees(table, view, true);
  LiveCallers::Path path = {Key(table.Rows(view), "main")};
  auto behind = callees.Behind(path);
  EXPECT_EQ(Text(behind), "20 load, 10 alloc, 5 parse");
  path.push_back(Key(behind, "load"));
  EXPECT_EQ(Text(callees.Behind(path)), "12 alloc, 8 load");
  EXPECT_EQ(Text(callees.Behind({Key(table.Rows(view), "load")})), "12 alloc, 8 load");
  EXPECT_EQ(Text(callees.Behind({Key(table.Rows(view), "parse")})), "");
}

TEST(LiveCallers, SaysWhatEndsWhereOthersGoOn) {
  ProfileBuilder b("demo");
  b.Site({{"main"}, {"load"}}, {{1, 1}, {1, 1}, {1, 1}});
  b.Site({{"main"}, {"load"}, {"alloc"}}, {{2, 1}, {2, 1}, {2, 1}});
  b.Site({{"load"}, {"alloc"}}, {{4, 1}, {4, 1}, {4, 1}});
  LiveTable table;
  table.Add(LiveTable::Time(), {{b.profile(), {1, 2, 3}}});
  const LiveView view = {LiveBy::kFunction, true};
  const LiveKey load = Key(table.Rows(view), "load");
  EXPECT_EQ(Text(LiveCallers(table, view, true).Behind({load})), "6 alloc, 1 [own]");
  EXPECT_EQ(Text(LiveCallers(table, view, false).Behind({load})), "4 [outermost], 3 main");
}

TEST(LiveCallers, StepsFromEachKindOfRowSumToIt) {
  const LiveTable table = OneTable();
  for (const LiveBy by : kAllLiveBys) {
    for (const bool inclusive : {false, true}) {
      for (const bool callees : {false, true}) {
        const LiveView view = {by, inclusive};
        const LiveCallers steps(table, view, callees);
        for (const LiveRow& row : table.Rows(view)) {
          uint64_t bytes = 0;
          const auto behind = steps.Behind({row});
          for (const LiveRow& step : behind) bytes += step.now.live.bytes;
          EXPECT_TRUE(behind.empty() || bytes == row.now.live.bytes)
              << NameOf(by) << (inclusive ? " inclusive " : " own ")
              << (callees ? "callees " : "callers ") << row.name << ": " << bytes;
        }
      }
    }
  }
}

// Goes through all steps. Returns how many there are.
size_t CheckSteps(const LiveCallers& callers, const LiveCallers::Path& path) {
  size_t steps = 0;
  for (const LiveCallers::Step& step : callers.Behind(path)) {
    LiveCallers::Path behind = path;
    behind.push_back(step);
    EXPECT_EQ(step.has_behind, !callers.Behind(behind).empty()) << step.name;
    steps += 1 + CheckSteps(callers, behind);
  }
  return steps;
}

TEST(LiveCallers, SaysWhereSomethingIsBehind) {
  std::vector<LiveProfile> look = OneLook();
  look[0].profile.sites[3].runtime_reason = "the loader's";
  LiveTable with_runtime;
  with_runtime.Add(LiveTable::Time(), look);
  for (const LiveTable& table : {OneTable(), with_runtime}) {
    size_t all = 0, have_some = 0, steps = 0;
    for (const LiveBy by : kAllLiveBys) {
      for (const bool inclusive : {false, true}) {
        for (const bool callees : {false, true}) {
          const LiveView view = {by, inclusive};
          const LiveCallers callers(table, view, callees);
          const auto rows = table.Rows(view);
          const auto have = callers.HaveBehind(rows);
          for (size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(have[i], !callers.Behind({rows[i]}).empty())
                << NameOf(by) << (inclusive ? " inclusive " : " own ")
                << (callees ? "callees " : "callers ") << rows[i].name;
            ++all;
            have_some += have[i] ? 1u : 0u;
            steps += CheckSteps(callers, {rows[i]});
          }
        }
      }
    }
    EXPECT_GT(have_some, 10u);
    EXPECT_LT(have_some, all);
    EXPECT_GT(steps, have_some);
  }
}

TEST(LiveCallers, BehindAThreadAreItsPlaces) {
  const LiveTable table = OneTable();
  const LiveView view = {LiveBy::kThread};
  const LiveKey thread = Key(table.Rows(view), "main");
  EXPECT_EQ(Text(LiveCallers(table, view, false).Behind({thread})), "20 alloc, 5 parse");
  EXPECT_EQ(Text(LiveCallers(table, view, true).Behind({thread})), "25 main");
}

TEST(LiveTable, ASiteIsAStackOfAThread) {
  const LiveTable table = OneTable();
  const auto rows = table.Rows({LiveBy::kSite});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].name, "alloc");
  EXPECT_EQ(rows[0].callers, "← load ← main, thread main");
  EXPECT_EQ(rows[1].callers, "← main, thread worker");
}

TEST(LiveLines, OpenInPlaceAndStayOpenInTheNextLook) {
  LiveTable table = OneTable();
  LiveLines lines;
  lines.Update(table, {});
  EXPECT_EQ(Text(lines), "30 alloc\n5 parse\n");
  lines.Toggle();
  lines.Update(table, {});
  EXPECT_EQ(Text(lines), "30 alloc\n.20 load\n.10 main\n5 parse\n");
  EXPECT_TRUE(lines.lines()[0].is_open);
  lines.Open();  // is open: goes down
  lines.Open();
  lines.Update(table, {});
  table.Add(LiveTable::Time() + std::chrono::seconds(1), OneLook());
  lines.Update(table, {});
  EXPECT_EQ(Text(lines), "30 alloc\n.20 load\n..12 main\n..8 load\n.10 main\n5 parse\n");
  EXPECT_EQ(lines.cursor(), 1u);
  lines.Close();
  lines.Update(table, {});
  lines.Close();  // is closed: goes up
  EXPECT_EQ(lines.cursor(), 0u);
  EXPECT_EQ(Text(lines), "30 alloc\n.20 load\n.10 main\n5 parse\n");
}

TEST(LiveLines, OpenASingleWayAtOnce) {
  const LiveTable table = OneTable();
  LiveLines lines;
  lines.Turn();
  lines.Update(table, {LiveBy::kProcess});
  lines.Toggle();
  lines.Update(table, {LiveBy::kProcess});
  EXPECT_EQ(Text(lines), "35 demo 4711\n.35 main\n..20 load\n..10 alloc\n..5 parse\n");
}

TEST(LiveLines, WhatHasNothingBehindItIsLeftUpwards) {
  const LiveTable table = OneTable();
  LiveLines lines;
  lines.Update(table, {});
  lines.MoveTo(1);
  lines.Toggle();
  lines.Update(table, {});
  EXPECT_EQ(Text(lines), "30 alloc\n5 parse\n.5 main\n");
  lines.Open();
  lines.Open();
  lines.Update(table, {});
  EXPECT_EQ(lines.cursor(), 2u);
  lines.Close();
  EXPECT_EQ(lines.cursor(), 1u);
}

TEST(LiveLines, TheCursorFollowsItsRow) {
  const LiveTable table = OneTable();
  LiveLines lines;
  LiveView view;
  lines.Update(table, view);
  lines.MoveBy(1);
  view.sort = LiveSort::kName;
  view.filter = "parse";
  lines.Update(table, view);
  EXPECT_EQ(lines.lines()[lines.cursor()].row.name, "parse");
  view.filter = "nothing";
  lines.Update(table, view);
  lines.MoveBy(1);
  lines.Open();
  lines.Close();
  EXPECT_FALSE(lines.Find("parse", false));
  EXPECT_TRUE(lines.lines().empty());
}

TEST(LiveLines, FindGoesRoundBothWays) {
  const LiveTable table = OneTable();
  LiveLines lines;
  lines.Update(table, {});
  EXPECT_TRUE(lines.Find("PARSE.CC", false));
  EXPECT_EQ(lines.cursor(), 1u);
  EXPECT_TRUE(lines.Find("p", false));
  EXPECT_EQ(lines.cursor(), 0u);
  EXPECT_TRUE(lines.Find("p", true));
  EXPECT_EQ(lines.cursor(), 1u);
  EXPECT_FALSE(lines.Find("absent", true));
}

}  // namespace
}  // namespace memprof

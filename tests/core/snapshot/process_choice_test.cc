#include "core/snapshot/process_choice.h"

#include <gtest/gtest.h>

#include "core/snapshot/snapshot_merger.h"

namespace memprof {
namespace {

// `count` processes of one program, by pid from 100 on, each with a site of its own and one that
// all have, and the sum of all.
Snapshot Merged(size_t count, size_t most_rows = kMostProcessRows) {
  SnapshotMerger merger(kMaxLiveChanges, most_rows);
  for (uint32_t i = 0; i < count; ++i) {
    Snapshot s;
    s.program.program = i == 0 ? "server" : "worker";
    s.program.pid = 100 + i;
    s.program.command = {i == 0 ? "/opt/server" : "/opt/server-helper"};
    s.program.start_unix_ms = i;
    s.program.rss_peak_bytes = 1000;
    s.program.run_id = i + 1;
    s.program.peak_time_ms = 10 * i;
    s.program.peak_time_resolution_ms = 1;
    s.tracker.bytes = 50;
    s.tracker.temporary_threshold = 1;
    s.frames = {{kNoModule, kPcNoStack}, {kNoModule, 1000 + i}};
    s.nodes = {{}, {0, 0}, {0, 1}};
    s.thread_names = {"main"};
    s.sites = {{1, 0, {100 + i, 1}, {i, 1}, {200 + i, 2}}, {2, 0, {10, 1}, {0, 0}, {20, 2}}};
    s.sites[0].temporary = {5, 1};
    s.sites[0].sizes = {{7, s.sites[0].total}};
    s.timeline = {16, {{0, 0, {}}, {16, 110, {}}}};
    s.mappings.followed = true;
    EXPECT_TRUE(merger.Add(std::move(s), 1).has_value());
  }
  return merger.Take();
}

bool Takes(const std::string& pattern, const SnapshotProgram& program) {
  return ProcessSelector{{pattern}}.Takes(program);
}

TEST(ProcessSelector, TakesAPidOrAPatternOfANameOfTheProgram) {
  SnapshotProgram program;
  program.program = "python3.11";
  program.pid = 4711;
  program.command = {"/usr/bin/service", "-v"};
  for (const char* pattern : {"4711", "python3.11", "python*", "service", "[ps]*"}) {
    EXPECT_TRUE(Takes(pattern, program)) << pattern;
  }
  for (const char* pattern : {"471", "47*", "python", "/usr/bin/service", "-v", ""}) {
    EXPECT_FALSE(Takes(pattern, program)) << pattern;
  }
  program.program = "4712";  // a number may be a name as well
  EXPECT_TRUE(Takes("4712", program));
  EXPECT_TRUE((ProcessSelector{{"x", "4711"}}.Takes(program)));
  EXPECT_TRUE(ProcessSelector{}.Takes(program));
}

TEST(ProcessChoice, ShowsASingleOneAsItWasAlone) {
  Snapshot s = Merged(3);
  const auto chosen = ShowProcesses(s, {{"101"}});
  EXPECT_EQ(chosen.shown, 1u);
  EXPECT_EQ(chosen.all, 3u);
  EXPECT_EQ(chosen.without_rows, 0u);
  EXPECT_TRUE(chosen.figures_only);
  EXPECT_TRUE(s.sources.empty());
  EXPECT_EQ(s.program.pid, 101u);
  EXPECT_EQ(s.program.peak_time_ms, 10u);
  EXPECT_EQ(SumPeak(s), (Count{111, 2}));
  EXPECT_EQ(SumLeaked(s), (Count{1, 1}));
  EXPECT_EQ(SumTotal(s), (Count{221, 4}));
  EXPECT_EQ(SumTemporary(s), (Count{5, 1}));
  EXPECT_EQ(Canonical(s)->sites.size(), 2u);
}

TEST(ProcessChoice, LeavesOutWhatIsOfAllProcessesTogether) {
  Snapshot s = Merged(3);
  ASSERT_FALSE(s.timeline.points.empty());
  ASSERT_TRUE(s.mappings.followed);
  ASSERT_TRUE(ShowProcesses(s, {{"worker"}}).figures_only);
  EXPECT_TRUE(s.timeline.points.empty());
  EXPECT_TRUE(SumSizes(s).empty());
  EXPECT_FALSE(s.mappings.followed);
  EXPECT_EQ(s.tracker.bytes, 0u);
}

TEST(ProcessChoice, SumsSeveral) {
  Snapshot s = Merged(4);
  const auto chosen = ShowProcesses(s, {{"worker"}});
  EXPECT_EQ(chosen.shown, 3u);
  ASSERT_EQ(s.sources.size(), 3u);
  EXPECT_EQ(s.processes.size(), 3u);
  EXPECT_EQ(s.program.program, "worker");
  EXPECT_EQ(s.program.pid, 0u);
  EXPECT_EQ(s.program.rss_peak_bytes, 3000u);
  EXPECT_EQ(SumPeak(s), (Count{336, 6}));
  EXPECT_EQ(SumLeaked(s), (Count{6, 3}));
}

TEST(ProcessChoice, ThatIsOfAllChangesNothing) {
  const Snapshot all = Merged(3);
  Snapshot s = all;
  const auto chosen = ShowProcesses(s, {{"worker", "100"}});
  EXPECT_EQ(chosen.shown, 3u);
  EXPECT_FALSE(chosen.figures_only);
  EXPECT_EQ(s, all);
}

TEST(ProcessChoice, ThatIsOfNoneShowsNone) {
  Snapshot s = Merged(2);
  const auto chosen = ShowProcesses(s, {{"nobody"}});
  EXPECT_EQ(chosen.shown, 0u);
  Snapshot alone;
  alone.program.program = "server";
  EXPECT_EQ(ShowProcesses(alone, {{"nobody"}}).shown, 0u);
  EXPECT_EQ(ShowProcesses(alone, {{"server"}}).shown, 1u);
}

TEST(ProcessChoice, SaysOfWhomNothingIsKeptApart) {
  Snapshot s = Merged(12, 0);  // the heaviest 8 of them are the last ones
  auto chosen = ShowProcesses(s, {{"worker"}});
  EXPECT_EQ(chosen.shown, 8u);
  EXPECT_EQ(chosen.without_rows, 3u);
  EXPECT_EQ(chosen.without_rows_peak, (Count{336, 6}));
  Snapshot light = Merged(12, 0);
  chosen = ShowProcesses(light, {{"101"}});
  EXPECT_EQ(chosen.shown, 0u);
  EXPECT_EQ(chosen.without_rows, 1u);
  EXPECT_NE(WhyNoneIsApart(chosen).find("summed with"), std::string::npos);
  Snapshot older = Merged(3);
  older.processes.clear();
  chosen = ShowProcesses(older, {{"101"}});
  EXPECT_EQ(chosen.shown, 0u);
  EXPECT_EQ(chosen.unknown, 1u);
  EXPECT_NE(WhyNoneIsApart(chosen).find("merge the captures again"), std::string::npos);
}

TEST(ProcessChoice, ListsWhoThereIsInALine) {
  EXPECT_EQ(TextOfProcesses(ProcessesOf(Merged(3))), "server (100), worker (101 102)");
  EXPECT_EQ(TextOfProcesses(ProcessesOf(Merged(12))),
            "server (100), worker (101 102 103 104 105 106 107 108 and 3 more)");
}

}  // namespace
}  // namespace memprof

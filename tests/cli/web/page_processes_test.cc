#include "cli/web/page_processes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/web/page.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

using Json = nlohmann::json;

// A merge of a heavy process (pid 1), another one that is kept apart (2), and some that aren't.
Profile Merge(uint32_t others) {
  ProfileBuilder b("demo");
  const TestFrame main{"main", "m.cc", 1};
  b.Site({main, {"load", "l.cc", 2}}, {{700 + others, 7 + others}, {30, 3}, {900, 9}});
  b.Site({main, {"work", "w.cc", 3}}, {{200, 2}, {0, 0}, {300, 3}, nullptr, "worker"});
  Profile& profile = b.profile();
  const auto add = [&](uint32_t pid, Count peak, SnapshotProcess::Kind kind,
                       std::vector<ProcessRow> rows) {
    SnapshotSource source;
    source.program.program = "p" + std::to_string(pid);
    source.program.pid = pid;
    source.program.command = {"p", std::string(5000, 'x'), "last"};
    source.peak = peak;
    profile.sources.push_back(source);
    ProfileProcess process;
    process.kind = kind;
    for (const ProcessRow& row : rows) AddFigures(process, row);
    process.rows = std::move(rows);
    profile.processes.push_back(std::move(process));
  };
  add(1, {500, 5}, SnapshotProcess::Kind::kApart, {{0, {500, 5}, {20, 2}, {500, 5}, {}}});
  add(2, {400, 4}, SnapshotProcess::Kind::kApart,
      {{0, {200, 2}, {10, 1}, {200, 2}, {}}, {1, {200, 2}, {}, {300, 3}, {}}});
  for (uint32_t i = 0; i < others; ++i) add(3 + i, {1, 1}, SnapshotProcess::Kind::kSummed, {});
  return profile;
}

Json ProcessesOf(const Profile& profile) { return Json::parse(PageData(profile, {}))["processes"]; }

uint64_t SumOf(const Json& column) {
  uint64_t sum = 0;
  for (const Json& value : column) sum += value.get<uint64_t>();
  return sum;
}

TEST(PageProcesses, HaveRowsAndFunctionsThatSumToEachOnesFigures) {
  const Json processes = ProcessesOf(Merge(1));
  ASSERT_EQ(processes["listed"].size(), 3u);
  for (const size_t i : {0u, 1u}) {
    const Json& process = processes["listed"][i];
    for (const char* figure : {"peak", "leaked", "total"}) {
      const uint64_t bytes = process["totals"][figure][0];
      const std::string column = figure + std::string("_bytes");
      EXPECT_EQ(SumOf(process["own"][column]), bytes);
      EXPECT_EQ(SumOf(process["functions"]["self"][column]), bytes);
      EXPECT_EQ(SumOf(process["functions"]["located"][column]), bytes);
    }
  }
  EXPECT_EQ(processes["listed"][1]["totals"]["peak"], Json({400, 4}));
  EXPECT_EQ(processes["listed"][1]["own"]["thread"].size(), 2u);
}

TEST(PageProcesses, SumToTheWholeWithThoseThatAreKeptOnlyTogether) {
  const Profile profile = Merge(5);
  const Json processes = ProcessesOf(profile);
  EXPECT_EQ(processes["count"], 7);
  EXPECT_EQ(processes["together"]["count"], 5);
  for (const Figure figure : kAllFigures) {
    const std::string name = NameOf(figure);
    Count sum = {processes["together"]["totals"][name][0],
                 processes["together"]["totals"][name][1]};
    for (const size_t i : {0u, 1u}) {
      const Json& count = processes["listed"][i]["totals"][name];
      sum += Count{count[0], count[1]};
    }
    EXPECT_EQ(sum, FigureOf(profile, figure)) << name;
  }
  // Only the peak is known of one that isn't apart.
  EXPECT_EQ(processes["listed"][2]["own_peak"], Json({1, 1}));
  EXPECT_FALSE(processes["listed"][2].contains("totals"));
  EXPECT_FALSE(processes["listed"][2].contains("own"));
}

TEST(PageProcesses, ListsAsManyAsCanBeReadAndCutsLongCommands) {
  const Json processes = ProcessesOf(Merge(1000));
  EXPECT_EQ(processes["count"], 1002);
  EXPECT_EQ(processes["listed"].size(), kMostListedProcesses);
  EXPECT_EQ(processes["listed"][0]["command"], Json({"p", "…"}));
}

TEST(PageProcesses, AreKnownOnlyTogetherAtAMomentThatReplacesThePeak) {
  Profile profile = Merge(1);
  profile.chosen = ChosenMoment{MomentSelector::Kind::kTime, 32, true, "32 ms", ""};
  const Json processes = ProcessesOf(profile);
  EXPECT_EQ(processes["together"]["count"], 3);
  for (const Json& process : processes["listed"]) EXPECT_FALSE(process.contains("totals"));
}

TEST(PageProcesses, AreAbsentIfTheCaptureIsNoMerge) {
  ProfileBuilder b("demo");
  b.Site({{"main", "", 0}}, {.peak = {1, 1}});
  EXPECT_FALSE(Json::parse(PageData(b.profile(), {})).contains("processes"));
}

}  // namespace
}  // namespace memprof

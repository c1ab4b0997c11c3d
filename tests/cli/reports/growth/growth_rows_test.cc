#include "cli/reports/growth/growth_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/reports/growth/growth_data.h"
#include "cli/reports/growth/growth_text.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

constexpr uint32_t kMoments = 60;  // one a minute

void SetHistory(ProfileSite& site, const std::function<uint64_t(uint32_t)>& bytes) {
  Count before;
  for (uint32_t i = 0; i < kMoments; ++i) {
    const Count live = {bytes(i), 1};
    if (live != before) site.history.push_back({i, live});
    before = live;
  }
}

// leak_1 to leak_4 leave 1 to 4 × 10,000 bytes a minute (leak_4 by two stacks), a cache and a
// constant.
Profile GrowingProfile() {
  ProfileBuilder b("demo");
  const TestFrame main = {"main", "/src/main.cc", 1};
  auto site = [&](const char* function, const TestFrame& caller) {
    b.Site({main, caller, {function, "/src/leaks.cc", 5}}, {});
  };
  for (const char* name : {"leak_1", "leak_2", "leak_3", "leak_4"}) site(name, {"Quiet", "", 0});
  site("leak_4", {"Loud", "", 0});
  site("cache", main);
  site("constant", main);
  Profile profile = b.profile();
  profile.moments.interval_ms = 60'000;
  for (uint32_t i = 0; i < kMoments; ++i)
    profile.moments.at.push_back({(i + 1) * uint64_t{60'000}});
  for (uint32_t k = 0; k < 3; ++k) {
    SetHistory(profile.sites[k], [&](uint32_t i) { return (k + 1) * 10'000 * i; });
  }
  SetHistory(profile.sites[3], [](uint32_t i) { return 10'000 * i; });
  SetHistory(profile.sites[4], [](uint32_t i) { return 30'000 * i; });
  SetHistory(profile.sites[5], [](uint32_t i) { return std::min(i, 20u) * 100'000; });
  SetHistory(profile.sites[6], [](uint32_t) { return 5'000'000; });
  return profile;
}

TEST(GrowthRows, PutTheFastestFirstAndMergeStacksByPlace) {
  const GrowthReport report = MakeGrowthReport(GrowingProfile());
  ASSERT_EQ(report.rows.size(), 6u);
  const char* names[] = {"leak_4", "leak_3", "leak_2", "leak_1", "cache", "constant"};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(report.rows[i].function, names[i]);
    const Growth& growth = report.rows[i].growth;
    if (i < 4) {
      EXPECT_NEAR(growth.bytes_per_hour, 600'000 * static_cast<double>(4 - i), 1);
    }
    EXPECT_EQ(growth.verdict, i < 4    ? GrowthVerdict::kGrows
                              : i == 4 ? GrowthVerdict::kLevelsOff
                                       : GrowthVerdict::kSteady);
  }
  EXPECT_EQ(report.rows[0].stacks, 2u);
  EXPECT_EQ(report.moments, kMoments);
}

Profile ProfileOf(ProfileBuilder& b) {
  Profile profile = b.profile();
  profile.moments.interval_ms = 60'000;
  for (uint32_t i = 0; i < kMoments; ++i)
    profile.moments.at.push_back({(i + 1) * uint64_t{60'000}});
  return profile;
}

TEST(GrowthRows, OfManySmallPlacesAreJudgedTogether) {
  for (const bool leaks : {true, false}) {
    ProfileBuilder b("demo");
    for (uint32_t k = 0; k < 100; ++k) {
      b.Site({{"main", "/src/main.cc", 1}, {"Make" + std::to_string(k), "/src/make.cc", k + 1}},
             {});
    }
    Profile profile = ProfileOf(b);
    for (uint32_t k = 0; k < 100; ++k) {
      SetHistory(profile.sites[k], [&](uint32_t i) {
        return leaks && k >= 10 ? 64 * ((i + k) / 6) : 64 * ((i * 37 + k * 11) % 9);
      });
    }
    const GrowthReport report = MakeGrowthReport(profile);
    EXPECT_EQ(SumOfGrowing(report.rows).places, leaks ? 90u : 0u);
    if (leaks) {
      EXPECT_NEAR(SumOfGrowing(report.rows).bytes_per_hour, 90 * 640, 90 * 32);
    }
  }
}

// A factory by which a cache fills, and a leak of 20,000 bytes a minute goes on.
Profile SharedFactory() {
  ProfileBuilder b("demo");
  for (const char* caller : {"Fill", "Open"}) {
    b.Site({{"main", "/src/main.cc", 1}, {caller, "/src/use.cc", 3}, {"Make", "/src/make.cc", 7}},
           {});
  }
  Profile profile = ProfileOf(b);
  SetHistory(profile.sites[0], [](uint32_t i) { return std::min(i, 20u) * 1'000'000; });
  SetHistory(profile.sites[1], [](uint32_t i) { return 20'000 * i; });
  return profile;
}

TEST(GrowthRows, HaveTheGrowingPartOfAPlace) {
  const GrowthReport report = MakeGrowthReport(SharedFactory());
  ASSERT_EQ(report.rows.size(), 1u);
  const GrowthRow& row = report.rows[0];
  EXPECT_EQ(row.growth.verdict, GrowthVerdict::kGrows);
  EXPECT_NEAR(row.growth.bytes_per_hour, 1'200'000, 1);
  EXPECT_EQ(row.stacks, 2u);
  EXPECT_EQ(row.growing_stacks, 1u);
  EXPECT_EQ(row.growing_live, (Count{59 * 20'000, 1}));
  EXPECT_EQ(row.live, (Count{59 * 20'000 + 20'000'000, 2}));
}

TEST(GrowthData, HasTheStackThatGrewMostFromThePlaceOutwards) {
  const Profile profile = SharedFactory();
  const auto json =
      nlohmann::json::parse(GrowthJson(profile, MakeGrowthReport(profile), 0, std::nullopt));
  const auto& row = json["rows"][0];
  std::string stack;
  for (const auto& frame : row["stack"]) stack += frame["function"].get<std::string>() + " ";
  EXPECT_EQ(stack, "Make Open main ");
  EXPECT_EQ(row["growing"]["stacks"], 1);
  EXPECT_EQ(row["growing"]["live"]["bytes"], 59 * 20'000);
}

// Each of twenty places takes one step, the later ones a little more: no trend in any, a straight line together.
Profile TakingTurns() {
  constexpr uint32_t kPlaces = 20;
  ProfileBuilder b("demo");
  for (uint32_t k = 0; k < kPlaces; ++k) {
    b.Site({{"main", "/src/main.cc", 1}, {"Turn" + std::to_string(k), "/src/turns.cc", 3}}, {});
  }
  Profile profile = ProfileOf(b);
  for (uint32_t k = 0; k < kPlaces; ++k) {
    SetHistory(profile.sites[k], [&](uint32_t i) { return i < 3 * k ? 0u : 60'000 + k; });
  }
  return profile;
}

TEST(GrowthRows, ThatRoseAreNamedIfOnlyTheirSumGrows) {
  const Profile profile = TakingTurns();
  const GrowthReport report = MakeGrowthReport(profile);
  ASSERT_EQ(report.program.verdict, GrowthVerdict::kGrows);
  ASSERT_EQ(SumOfGrowing(report.rows).places, 0u);
  const auto rose = RowsThatRose(report.rows, report.program);
  ASSERT_FALSE(rose.empty());
  EXPECT_EQ(rose[0]->function, "Turn19");
  EXPECT_EQ(rose[0]->rise_bytes, 60'019);
  const std::string text = GrowthText(profile, report, {});
  EXPECT_NE(text.find("The heap grows, no place is sure to by itself"), std::string::npos) << text;
  EXPECT_EQ(text.find("is seen to grow"), std::string::npos) << text;
}

TEST(GrowthRows, ThatRoseAreNotNamedWhereAPlaceGrows) {
  const GrowthReport report = MakeGrowthReport(GrowingProfile());
  EXPECT_TRUE(RowsThatRose(report.rows, report.program).empty());
}

TEST(GrowthText, SaysWhichPartOfAPlaceGrows) {
  const Profile profile = SharedFactory();
  const std::string text = GrowthText(profile, MakeGrowthReport(profile), {});
  EXPECT_NE(text.find("1.1 MiB grow: ← Open ← main"), std::string::npos) << text;
}

TEST(GrowthText, MakesNoForecastAfterTheLoadHasEnded) {
  Profile profile = GrowingProfile();
  const GrowthTextOptions options = {0, false, uint64_t{1} << 32, {}};
  const auto text = [&] { return GrowthText(profile, MakeGrowthReport(profile), options); };
  EXPECT_FALSE(MakeGrowthReport(profile).load_ended_ms.has_value());
  EXPECT_NE(text().find("at the rate of what grows"), std::string::npos) << text();
  for (ProfileSite& site : profile.sites) {
    std::erase_if(site.history, [](const LiveChange& change) { return change.moment > 50; });
  }
  EXPECT_EQ(MakeGrowthReport(profile).load_ended_ms, 51 * 60'000u);
  EXPECT_NE(text().find("the load has ended"), std::string::npos) << text();
  EXPECT_EQ(text().find("at the rate of what grows"), std::string::npos) << text();
}

TEST(GrowthRows, OfMappingsAreJudgedApart) {
  Profile profile = GrowingProfile();
  EXPECT_FALSE(MakeGrowthReport(profile).mapped.has_value());
  const auto map = [&](size_t site, bool reserved, const std::function<uint64_t(uint32_t)>& live) {
    SnapshotMapping& row = profile.mappings.rows.emplace_back();
    row.node = profile.sites[site].node;
    row.reserved = reserved;
    for (uint32_t i = 0; i < kMoments; ++i) AddChange(row.history, i, {live(i), 1});
  };
  map(5, false, [](uint32_t i) { return uint64_t{8192} * i; });
  map(6, false, [](uint32_t i) { return 4096 * (1 + i * 7919 % 50); });
  map(0, true, [](uint32_t i) { return uint64_t{1 << 20} * i; });
  const GrowthReport report = MakeGrowthReport(profile);
  EXPECT_EQ(report.rows.size(), 6u);
  ASSERT_EQ(report.mapped_rows.size(), 2u);
  EXPECT_EQ(report.mapped_rows[0].function, "cache");
  EXPECT_EQ(report.mapped_rows[0].growth.verdict, GrowthVerdict::kGrows);
  EXPECT_NEAR(report.mapped_rows[0].growth.bytes_per_hour, 60 * 8192, 1);
  EXPECT_EQ(report.mapped_rows[1].growth.verdict, GrowthVerdict::kSteady);
  EXPECT_EQ(report.mapped_live.bytes,
            report.mapped_rows[0].live.bytes + report.mapped_rows[1].live.bytes);
  EXPECT_EQ(report.mapped_rows[0].live.bytes, 59 * 8192u);
  const std::string text = GrowthText(profile, report, {});
  EXPECT_NE(text.find("What grows of the mapped memory"), std::string::npos) << text;
  GrowthReport mapped_only = report;
  mapped_only.rows.clear();
  const std::string still =
      GrowthText(profile, mapped_only, {0, false, uint64_t{1} << 40, {100, false}});
  EXPECT_NE(still.find("nothing of the heap is seen to grow"), std::string::npos) << still;
  EXPECT_NE(still.find("Nothing of the heap is seen to grow"), std::string::npos) << still;
}

TEST(GrowthRows, SumToTheProgram) {
  const Profile profile = GrowingProfile();
  const GrowthReport report = MakeGrowthReport(profile);
  Count live;
  for (const GrowthRow& row : report.rows) live += row.live;
  EXPECT_EQ(live, report.live);
  EXPECT_EQ(live.bytes, 59 * 100'000u + 20 * 100'000u + 5'000'000u);
  EXPECT_NEAR(SumOfGrowing(report.rows).bytes_per_hour, 6'000'000, 1);
  EXPECT_EQ(SumOfGrowing(report.rows).places, 4u);
}

TEST(GrowthRows, AreOfTheAskedPartOfTheRun) {
  Profile profile = GrowingProfile();
  EXPECT_EQ(MakeGrowthReport(profile, 600'000).from_ms, 600'000u);
  profile.chosen = ChosenMoment{MomentSelector::Kind::kTime, 1'800'000, false, "30 min", ""};
  const GrowthReport early = MakeGrowthReport(profile);
  EXPECT_EQ(early.until_ms, 1'800'000u);
  EXPECT_EQ(early.live.bytes, 29 * 100'000u + 20 * 100'000u + 5'000'000u);
  profile.chosen =
      ChosenMoment{MomentSelector::Kind::kNamed, 1'800'000, false, "the snapshot '30m'", ""};
  EXPECT_EQ(MakeGrowthReport(profile).until_ms, 1'800'000u);
  const GrowthReport nothing = MakeGrowthReport(profile, 1'800'001);
  EXPECT_EQ(nothing.moments, 0u);
  EXPECT_EQ(nothing.rows.size(), 6u);
  EXPECT_EQ(nothing.live, Count());
}

TEST(GrowthRows, TellFragmentationByTheResidentMemory) {
  Profile profile = GrowingProfile();
  EXPECT_FALSE(MakeGrowthReport(profile).beside_heap.has_value());
  for (uint64_t i = 1; i <= kMoments; ++i) {
    profile.timeline.points.push_back({i * 60'000, 1'000'000, 10'000'000 + i * 50'000});
  }
  const GrowthReport report = MakeGrowthReport(profile);
  ASSERT_TRUE(report.beside_heap.has_value());
  EXPECT_EQ(report.beside_heap->verdict, GrowthVerdict::kGrows);
  EXPECT_NEAR(report.beside_heap->bytes_per_hour, 3'000'000, 1);
  EXPECT_NE(GrowthText(profile, report, {}).find("RSS beside the live heap"), std::string::npos);
}

TEST(GrowthRows, TakeAnAllocatorsStepsForNoFragmentation) {
  Profile profile = GrowingProfile();
  for (uint32_t i = 0; i < kMoments; ++i) {
    profile.timeline.points.push_back({i * 60'000, 1'000'000, 10'000'000 + i * 4'096});
  }
  const GrowthReport report = MakeGrowthReport(profile);
  ASSERT_TRUE(report.beside_heap);
  EXPECT_EQ(report.beside_heap->verdict, GrowthVerdict::kSteady);
}

TEST(GrowthRows, TellTheTimeUntilALimit) {
  EXPECT_EQ(TimeUntilMs(1000, 400, 1200), 1'800'000u);
  EXPECT_EQ(TimeUntilMs(1000, 1000, 5), 0u);
  EXPECT_EQ(TimeUntilMs(1000, 400, 0), std::nullopt);
  EXPECT_EQ(TimeUntilMs(1000, 400, -5), std::nullopt);
  EXPECT_EQ(TimeUntilMs(~uint64_t{0}, 0, 1), std::nullopt);
}

TEST(GrowthText, HasTheStackThatGrewMostAndARowForTheRest) {
  const Profile profile = GrowingProfile();
  const GrowthReport report = MakeGrowthReport(profile);
  const std::string text = GrowthText(profile, report, {1, false, std::nullopt, {}});
  EXPECT_NE(text.find("← Loud ← main"), std::string::npos) << text;
  EXPECT_EQ(text.find("Quiet"), std::string::npos) << text;
  EXPECT_NE(text.find("others that grow (3 places)"), std::string::npos) << text;
  EXPECT_NE(text.find("steady (1 place)"), std::string::npos) << text;
  EXPECT_NE(text.find("levels off ("), std::string::npos) << text;
  const std::string all = GrowthText(profile, report, {1, true, std::nullopt, {}});
  EXPECT_EQ(all.find("others"), std::string::npos) << all;
  EXPECT_NE(all.find("constant"), std::string::npos) << all;
}

TEST(GrowthText, SaysWhatHoldsWhatGrows) {
  Profile profile = GrowingProfile();
  SnapshotInspection& inspection = profile.inspection;
  inspection.looks = 2;
  inspection.time_ms = 3'600'000;
  for (const size_t site : {size_t{2}, size_t{3}, size_t{5}})
    inspection.rows.push_back({profile.sites[site].node, {}});
  inspection.rows[0].figures.lost_directly = {1'700'000, 20};
  inspection.rows[1].figures.reachable = {590'000, 59};
  inspection.rows[2].figures.reachable = {2'000'000, 1};
  inspection.roots = {"sessions (demo, .bss)"};
  // root ─► cache's block ─► leak_4's
  inspection.paths = {
      {}, {0, true, 0, {}}, {1, false, 2, {2'000'000, 1}}, {2, false, 1, {590'000, 59}}};
  inspection.retained = {{}};
  const GrowthReport report = MakeGrowthReport(profile);
  const std::string text = GrowthText(profile, report, {});
  EXPECT_NE(text.find("by the inspection after 1 h"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing reaches it any more: a leak for certain"), std::string::npos)
      << text;
  EXPECT_NE(text.find("held by sessions (demo, .bss) → cache leaks.cc:5"), std::string::npos)
      << text;
  const auto rows = nlohmann::json::parse(GrowthJson(profile, report, 0, std::nullopt))["rows"];
  EXPECT_EQ(rows[0]["inspection"]["held_by"].size(), 2u);
  EXPECT_EQ(rows[1]["inspection"]["lost"]["bytes"], 1'700'000);
  EXPECT_TRUE(rows[2]["inspection"].is_null());
}

}  // namespace
}  // namespace memprof

#include "cli/reports/growth/growth_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

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

TEST(GrowthRows, SumToTheProgram) {
  const Profile profile = GrowingProfile();
  const GrowthReport report = MakeGrowthReport(profile);
  Count live;
  for (const GrowthRow& row : report.rows) live += row.live;
  EXPECT_EQ(live, report.live);
  EXPECT_EQ(live.bytes, 59 * 100'000u + 20 * 100'000u + 5'000'000u);
  EXPECT_NEAR(SumOfGrowing(report).bytes_per_hour, 6'000'000, 1);
  EXPECT_EQ(SumOfGrowing(report).places, 4u);
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

}  // namespace
}  // namespace memprof

#include "core/budget/growth_measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "cli/reports/growth/growth_rows.h"
#include "core/budget/judge.h"
#include "formats/budget_file.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

constexpr uint32_t kMoments = 64;
constexpr uint64_t kMinute = 60'000;

void SetHistory(Profile& profile, size_t site, const std::function<uint64_t(uint32_t)>& live) {
  LiveHistory& history = profile.sites[site].history;
  history.clear();
  for (uint32_t i = 0; i < kMoments; ++i) {
    const Count now = {live(i), 1};
    if (history.empty() ? now != Count() : now != history.back().live) history.push_back({i, now});
  }
}

// A leak of 60,000 bytes a minute beside a cache that is full after eight of 64 minutes.
Profile SoakProfile() {
  ProfileBuilder b("soak");
  b.Site({{"main"}, {"Leak"}}, {{3'840'000, 64}, {3'840'000, 64}, {3'840'000, 64}});
  b.Site({{"main"}, {"Cache"}}, {{4'000'000, 8}, {4'000'000, 8}, {4'000'000, 8}});
  Profile profile = b.profile();
  profile.moments.interval_ms = kMinute;
  for (uint32_t i = 0; i < kMoments; ++i) profile.moments.at.push_back({(i + 1) * kMinute, false});
  SetHistory(profile, 0, [](uint32_t i) { return uint64_t{60'000} * (i + 1); });
  SetHistory(profile, 1, [](uint32_t i) { return uint64_t{500'000} * std::min(i + 1, 8u); });
  return profile;
}

TEST(GrowthMeasure, SumsWhatGrowsAndNotWhatLevelsOff) {
  const Profile profile = SoakProfile();
  const std::vector<uint32_t> both = {0, 1}, cache = {1};
  const Measurement growth = MeasureGrowth(profile, both);
  EXPECT_TRUE(growth.why_not.empty()) << growth.why_not;
  EXPECT_NEAR(growth.value, 3'600'000, 1);
  EXPECT_EQ(MeasureGrowth(profile, cache).value, 0);
}

TEST(GrowthMeasure, IsTheTotalOfTheGrowthReport) {
  ProfileBuilder b("soak");
  for (const char* caller : {"Fill", "Open"}) b.Site({{"main"}, {caller}, {"Make"}}, {});
  for (uint32_t k = 0; k < 40; ++k) b.Site({{"main"}, {"Small" + std::to_string(k)}}, {});
  Profile profile = b.profile();
  profile.moments = SoakProfile().moments;
  SetHistory(profile, 0, [](uint32_t i) { return uint64_t{500'000} * std::min(i + 1, 20u); });
  SetHistory(profile, 1, [](uint32_t i) { return uint64_t{10'000} * i; });
  std::vector<uint32_t> all = {0, 1};
  for (uint32_t k = 0; k < 40; ++k) {
    SetHistory(profile, 2 + k, [=](uint32_t i) { return uint64_t{64} * ((i + k) / 6); });
    all.push_back(2 + k);
  }
  const GrowthRate total = SumOfGrowing(MakeGrowthReport(profile).rows);
  EXPECT_EQ(total.places, 41u);
  EXPECT_NEAR(MeasureGrowth(profile, all).value, total.bytes_per_hour, 1e-6);
}

TEST(GrowthMeasure, IsNotKnownOfAShortHistory) {
  Profile profile = SoakProfile();
  profile.moments.at.resize(10);
  const std::vector<uint32_t> all = {0, 1};
  EXPECT_NE(MeasureGrowth(profile, all).why_not.find("10 moments"), std::string::npos);
}

TEST(GrowthMeasure, EqualToItsLimitIsWithin) {
  const auto standing = [](const char* text) {
    const auto budget = ParseBudget(text, "b.toml");
    return Judge(*budget, SoakProfile(), nullptr, {}).limits[0].standing;
  };
  EXPECT_EQ(standing("[budget]\ngrowth_per_hour = 3600001"), Standing::kWithin);
  EXPECT_EQ(standing("[budget]\ngrowth_per_hour = 3599990"), Standing::kOver);
  EXPECT_EQ(standing("[[budget.match]]\nfunction = \"Cache\"\ngrowth_per_hour = \"0 B/h\""),
            Standing::kWithin);
}

}  // namespace
}  // namespace memprof

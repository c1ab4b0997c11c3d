#include "core/profile/place_growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "core/profile/location.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

constexpr uint32_t kMoments = 100;  // one a minute

using Live = std::function<uint64_t(uint32_t minute)>;

// Stacks main → function → Make, each with its live bytes.
class Factory {
 public:
  void Called(const std::string& by, uint32_t line, const Live& live) {
    b_.Site({{"main", "/src/main.cc", 1}, {by, "/src/use.cc", line}, {"Make", "/src/make.cc", 7}},
            {});
    live_.push_back(live);
  }

  PlaceGrowth Judge() {
    Profile profile = b_.profile();
    profile.moments.interval_ms = 60'000;
    for (uint32_t i = 0; i < kMoments; ++i) profile.moments.at.push_back({i * uint64_t{60'000}});
    std::vector<uint32_t> sites;
    for (uint32_t k = 0; k < live_.size(); ++k) {
      sites.push_back(k);
      for (uint32_t i = 0; i < kMoments; ++i) {
        const uint64_t bytes = live_[k](i);
        AddChange(profile.sites[k].history, i, {bytes, bytes / 64});
      }
    }
    const auto places = PlacesOf(profile, profile.sites, sites);
    EXPECT_EQ(places.size(), 1u);
    return PlaceJudge(profile, WindowOf(profile)).Judge(places)[0];
  }

 private:
  ProfileBuilder b_{"demo"};
  std::vector<Live> live_;
};

uint64_t Cache(uint32_t minute) { return std::min(minute, 40u) * 1'000'000; }

TEST(PlaceGrowth, OfAFactoryIsThatOfTheStackThatLeaksBesideACache) {
  Factory factory;
  factory.Called("Fill", 3, Cache);
  factory.Called("Open", 4, [](uint32_t i) { return uint64_t{20'000} * i; });
  const PlaceGrowth place = factory.Judge();
  EXPECT_EQ(place.growth.verdict, GrowthVerdict::kGrows) << place.growth.reason;
  EXPECT_NEAR(place.growth.bytes_per_hour, 1'200'000, 1);
  EXPECT_EQ(place.sites, std::vector<uint32_t>{1});
  EXPECT_EQ(place.series.back(), Cache(99) + 20'000 * 99);
}

TEST(PlaceGrowth, OfAFactoryIsSeenUnderASwingThatHidesIt) {
  Factory factory;
  factory.Called("Batch", 3, [](uint32_t i) { return i * 7919 % 50 * 1'000'000; });
  factory.Called("Open", 4, [](uint32_t i) { return uint64_t{20'000} * i; });
  const PlaceGrowth place = factory.Judge();
  EXPECT_EQ(place.growth.verdict, GrowthVerdict::kGrows) << place.growth.reason;
  EXPECT_NEAR(place.growth.bytes_per_hour, 1'200'000, 1);
}

TEST(PlaceGrowth, OfACacheAloneLevelsOff) {
  Factory factory;
  factory.Called("Fill", 3, Cache);
  factory.Called("Warm", 4, [](uint32_t i) { return Cache(i) / 3; });
  const PlaceGrowth place = factory.Judge();
  EXPECT_EQ(place.growth.verdict, GrowthVerdict::kLevelsOff) << place.growth.reason;
  EXPECT_EQ(place.sites.size(), 2u);
}

TEST(PlaceGrowth, IsNoneWhereStacksReplaceEachOther) {
  Factory factory;
  factory.Called("OldKeys", 3, [](uint32_t i) { return uint64_t{100'000} * (100 - i); });
  factory.Called("NewKeys", 4, [](uint32_t i) { return uint64_t{100'000} * i; });
  const PlaceGrowth place = factory.Judge();
  EXPECT_EQ(place.growth.verdict, GrowthVerdict::kSteady) << place.growth.reason;
}

TEST(PlaceGrowth, OfManySmallStacksIsJudgedByTheirCaller) {
  for (const bool leaks : {true, false}) {
    Factory factory;
    factory.Called("Fill", 3, Cache);
    // Each moves by less than half of the floor, which is 4,096 bytes.
    for (uint32_t k = 0; k < 60; ++k) {
      factory.Called("Handle", 10 + k, [=](uint32_t i) {
        return leaks ? uint64_t{64} * ((i + k) / 6) : uint64_t{64} * ((i * 37 + k * 11) % 9);
      });
    }
    const PlaceGrowth place = factory.Judge();
    if (leaks) {
      EXPECT_EQ(place.growth.verdict, GrowthVerdict::kGrows) << place.growth.reason;
      EXPECT_EQ(place.sites.size(), 60u);
      EXPECT_NEAR(place.growth.bytes_per_hour, 60 * 640, 60 * 20);
    } else {
      EXPECT_EQ(place.growth.verdict, GrowthVerdict::kLevelsOff) << place.growth.reason;
    }
  }
}

}  // namespace
}  // namespace memprof

#include "core/profile/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace memprof {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kMinute = 60'000;

struct Series {
  std::vector<uint64_t> times_ms, live_bytes;
};

// A moment a minute.
Series Made(size_t moments, const std::function<double(double)>& live) {
  Series series;
  for (size_t i = 0; i < moments; ++i) {
    series.times_ms.push_back((i + 1) * kMinute);
    series.live_bytes.push_back(static_cast<uint64_t>(live(static_cast<double>(i))));
  }
  return series;
}

Growth Judge(const Series& series, GrowthOptions options = {}) {
  return JudgeGrowth(series.times_ms, series.live_bytes, options);
}

TEST(Growth, OfALeakIsItsRate) {
  const Growth growth = Judge(Made(100, [](double i) { return kMiB + 1000 * i; }));
  EXPECT_EQ(growth.verdict, GrowthVerdict::kGrows) << growth.reason;
  EXPECT_NEAR(growth.bytes_per_hour, 60'000, 1e-3);
  EXPECT_NEAR(growth.low, 60'000, 1e-3);
  EXPECT_NEAR(growth.high, 60'000, 1e-3);
  EXPECT_EQ(growth.warm_up, 0u);
  EXPECT_EQ(growth.span_ms, 99 * kMinute);
}

TEST(Growth, DoesNotCountTheStart) {
  const Growth growth =
      Judge(Made(100, [](double i) { return std::min(i, 10.0) * kMiB + 5000 * i; }));
  EXPECT_EQ(growth.verdict, GrowthVerdict::kGrows) << growth.reason;
  EXPECT_NEAR(growth.bytes_per_hour, 300'000, 3000);
  EXPECT_GE(growth.warm_up, 9u);
  EXPECT_LE(growth.warm_up, 12u);
  EXPECT_EQ(growth.warm_up_ms, (growth.warm_up + 1) * kMinute);
}

TEST(Growth, OfWhatStartsLateIsItsRateSince) {
  const Growth growth =
      Judge(Made(100, [](double i) { return kMiB + 50'000 * std::max(i - 60, 0.0); }));
  EXPECT_EQ(growth.verdict, GrowthVerdict::kGrows) << growth.reason;
  EXPECT_NEAR(growth.bytes_per_hour, 3'000'000, 30'000);
}

TEST(Growth, OfACacheLevelsOff) {
  for (const double constant : {2.0, 8.0, 20.0}) {
    const Growth growth =
        Judge(Made(100, [&](double i) { return 50 * kMiB * (1 - std::exp(-i / constant)); }));
    EXPECT_EQ(growth.verdict, GrowthVerdict::kLevelsOff) << constant << ": " << growth.reason;
  }
  const Growth ring = Judge(Made(100, [](double i) { return std::min(i, 60.0) * kMiB; }));
  EXPECT_EQ(ring.verdict, GrowthVerdict::kLevelsOff) << ring.reason;
}

TEST(Growth, IsNoneWhereItComesBack) {
  const std::vector<std::pair<const char*, std::function<double(double)>>> shapes = {
      {"sawtooth", [](double i) { return std::fmod(i, 23) * kMiB; }},
      {"batches", [](double i) { return std::fmod(i + 5, 45) * kMiB; }},
      {"bursts", [](double i) { return std::fmod(i, 17) < 2 ? 50.0 * kMiB : 1.0 * kMiB; }},
      {"cycle", [](double i) { return kMiB * (2 + std::sin(i / 4)); }},
      {"falls", [](double i) { return kMiB * (200 - i); }},
      {"constant", [](double) { return kMiB; }}};
  for (const auto& [name, shape] : shapes) {
    const Growth growth = Judge(Made(100, shape));
    EXPECT_TRUE(growth.verdict == GrowthVerdict::kSteady ||
                growth.verdict == GrowthVerdict::kUndecided)
        << name << ": " << VerdictName(growth.verdict) << ", " << growth.reason;
  }
}

TEST(Growth, OfOneStepIsNotALeak) {
  const Growth growth = Judge(Made(100, [](double i) { return i < 70 ? kMiB : 30 * kMiB; }));
  EXPECT_NE(growth.verdict, GrowthVerdict::kGrows) << growth.reason;
}

TEST(Growth, IsUndecidedWhereThereAreTooFewMoments) {
  const Growth few = Judge(Made(kFewestGrowthMoments - 1, [](double i) { return 100'000 * i; }));
  EXPECT_EQ(few.verdict, GrowthVerdict::kUndecided);
  EXPECT_FALSE(few.has_trend);
  EXPECT_NE(std::string(few.reason).find("too few"), std::string::npos);
  EXPECT_EQ(Judge(Made(kFewestGrowthMoments, [](double i) { return 100'000 * i; })).verdict,
            GrowthVerdict::kGrows);
  EXPECT_EQ(Judge({}).verdict, GrowthVerdict::kUndecided);
}

TEST(Growth, BelowTheFloorIsSteady) {
  const Series series = Made(100, [](double i) { return kMiB + 100 * i; });
  EXPECT_EQ(Judge(series, {1000, 1, 0}).verdict, GrowthVerdict::kGrows);
  // It never falls, so that half of the floor is enough.
  EXPECT_EQ(Judge(series, {15'000, 1, 0}).verdict, GrowthVerdict::kGrows);
  EXPECT_EQ(Judge(series, {50'000, 1, 0}).verdict, GrowthVerdict::kSteady);
  EXPECT_EQ(GrowthFloor(0), 4096);
  EXPECT_EQ(GrowthFloor(uint64_t{1'000'000'000}), 100'000);
}

TEST(Growth, OfEstimatesMustExceedTheirError) {
  const Series series = Made(100, [](double i) { return kMiB + 1000 * i; });
  const Growth clear = Judge(series, {4096, 1, 10'000});
  EXPECT_EQ(clear.verdict, GrowthVerdict::kGrows);
  EXPECT_LT(clear.low, clear.bytes_per_hour - 10'000);  // 1.96 · 10,000 B in 99 minutes
  const Growth vague = Judge(series, {4096, 1, 200'000});
  EXPECT_EQ(vague.verdict, GrowthVerdict::kUndecided);
  EXPECT_STREQ(vague.reason, "too few samples");
}

// A cache that has filled and renews its blocks, beside a leak, both estimated from samples. With
// each renewal other blocks are sampled, so the estimate slowly wanders.
TEST(Growth, OfASampledCacheIsNotClaimedForHowItWanders) {
  constexpr size_t kPages = 600, kSteps = 1500, kStepsAMoment = 16, kRuns = 2000;
  constexpr double kPageBytes = 4096, kSessionBytes = 128, kEvery = 1024;
  std::mt19937_64 random(20);
  const auto sampled = [&](double bytes) {  // what it counts as
    const double chance = 1 - std::exp(-bytes / kEvery);
    return std::bernoulli_distribution(chance)(random) ? bytes / chance : 0;
  };
  const auto error = [](double live, double bytes) {
    return std::sqrt(live * bytes * std::exp(-bytes / kEvery) / (1 - std::exp(-bytes / kEvery)));
  };
  size_t caches_that_grow = 0, leaks_found = 0;
  for (size_t run = 0; run < kRuns; ++run) {
    Series cache, leak;
    std::vector<double> pages(kPages, 0);
    std::vector<bool> filled(kPages, false);
    double sessions = 0;
    for (size_t step = 0; step < kSteps; ++step) {
      for (int i = 0; i < 4; ++i) {
        const size_t at = random() % kPages;
        if (!filled[at]) pages[at] = sampled(kPageBytes);
        filled[at] = true;
      }
      if (filled[step % kPages]) pages[step % kPages] = sampled(kPageBytes);
      sessions += sampled(kSessionBytes);
      if (step % kStepsAMoment != 0) continue;
      const uint64_t time = 4 * step;
      cache.times_ms.push_back(time);
      cache.live_bytes.push_back(
          static_cast<uint64_t>(std::accumulate(pages.begin(), pages.end(), 0.0)));
      leak.times_ms.push_back(time);
      leak.live_bytes.push_back(static_cast<uint64_t>(sessions));
    }
    const GrowthOptions of_cache = {4096, 2, error(kPages * kPageBytes, kPageBytes)};
    const GrowthOptions of_leak = {4096, 2, error(kSteps * kSessionBytes, kSessionBytes)};
    caches_that_grow += Judge(cache, of_cache).verdict == GrowthVerdict::kGrows;
    leaks_found += Judge(leak, of_leak).verdict == GrowthVerdict::kGrows;
  }
  EXPECT_LE(caches_that_grow, kRuns / 200);  // kGrowthLevel
  EXPECT_GE(leaks_found, kRuns * 98 / 100);
  RecordProperty("caches_that_grow", static_cast<int>(caches_that_grow));
  RecordProperty("leaks_found", static_cast<int>(leaks_found));
}

TEST(Growth, AsksForMoreTheMorePlacesAreJudged) {
  // A weak trend in alternating noise.
  const Series series = Made(40, [](double i) {
    return 10 * kMiB + 30'000 * i + (static_cast<int>(i * 7) % 5) * 500'000.0;
  });
  const double p = Judge(series).p_value;
  ASSERT_LT(p, kGrowthLevel);
  EXPECT_EQ(Judge(series).verdict, GrowthVerdict::kGrows);
  const auto too_many = static_cast<size_t>(kGrowthLevel / p) + 2;
  EXPECT_EQ(Judge(series, {4096, too_many, 0}).verdict, GrowthVerdict::kUndecided);
}

Growth JudgeBlocks(const Series& series, const std::function<uint64_t(double)>& blocks) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < series.times_ms.size(); ++i) {
    numbers.push_back(blocks(static_cast<double>(i)));
  }
  return JudgeGrowth(series.times_ms, series.live_bytes, {}, numbers);
}

TEST(Growth, DoesNotJudgeTheMomentOfTheTearDown) {
  const Growth leak = Judge(Made(100, [](double i) { return i == 99 ? 0 : kMiB + 10'000 * i; }));
  EXPECT_EQ(leak.verdict, GrowthVerdict::kGrows) << leak.reason;
  EXPECT_NEAR(leak.bytes_per_hour, 600'000, 1e-3);
  EXPECT_EQ(leak.span_ms, 98 * kMinute);
  // What falls before the last moment has come back.
  const Growth freed = Judge(Made(100, [](double i) { return i > 80 ? kMiB : kMiB + 10'000 * i; }));
  EXPECT_NE(freed.verdict, GrowthVerdict::kGrows) << freed.reason;
}

TEST(Growth, OfAContainerThatDoublesWithoutEndIsSaid) {
  const auto one = [](double) { return 1; };
  for (const double factor : {1.5, 2.0}) {
    for (const double phase : {0.05, 0.5, 0.95}) {
      const Growth growth =
          JudgeBlocks(Made(100,
                           [&](double i) {
                             const double steps = std::log((i + 1) / 100) / std::log(factor);
                             return kMiB * std::pow(factor, std::floor(steps + phase));
                           }),
                      one);
      EXPECT_EQ(growth.verdict, GrowthVerdict::kGrows)
          << factor << " " << phase << ": " << growth.reason;
      EXPECT_GT(growth.bytes_per_hour, 0);
    }
  }
}

TEST(Growth, OfAContainerWhoseNextStepIsOverdueIsNone) {
  // A table for what fills in the first third.
  const Series table = Made(
      100, [](double i) { return kMiB * std::exp2(std::floor(std::log2(std::min(i + 1, 34.0)))); });
  const Growth growth = JudgeBlocks(table, [](double) { return 1; });
  EXPECT_NE(growth.verdict, GrowthVerdict::kGrows) << growth.reason;
  // Nor are many blocks a container.
  const Series doubling =
      Made(100, [](double i) { return kMiB * std::exp2(std::floor(std::log2(i + 1))); });
  EXPECT_EQ(JudgeBlocks(doubling, [](double) { return 1; }).verdict, GrowthVerdict::kGrows);
  EXPECT_NE(JudgeBlocks(doubling, [](double) { return 9; }).verdict, GrowthVerdict::kGrows);
}

TEST(Growth, OfAFewKibibytesIsSeenIfTheyNeverFall) {
  const auto leak = [](double i) { return 72 * 1024 + 64 * std::floor(i / 2); };  // 3,136 bytes
  EXPECT_EQ(Judge(Made(100, leak)).verdict, GrowthVerdict::kGrows);
  const Growth noisy =
      Judge(Made(100, [&](double i) { return leak(i) + (static_cast<int>(i * 7) % 5) * 100; }));
  EXPECT_NE(noisy.verdict, GrowthVerdict::kGrows) << noisy.reason;
  // Two tables, made one after the other.
  const Growth tables = Judge(
      Made(100, [](double i) { return 72 * 1024 + (i > 30 ? 1600 : 0) + (i > 60 ? 1600 : 0); }));
  EXPECT_NE(tables.verdict, GrowthVerdict::kGrows) << tables.reason;
}

TEST(Growth, IsSeenInTheFloorOfASwing) {
  const auto swing = [](double i) { return std::fmod(i * 37, 41) / 41 * 4 * kMiB; };
  const Growth residue = Judge(Made(
      120, [&](double i) { return swing(i) * (static_cast<int>(i) % 5 == 0 ? 0 : 1) + 4000 * i; }));
  EXPECT_EQ(residue.verdict, GrowthVerdict::kGrows) << residue.reason;
  EXPECT_NEAR(residue.bytes_per_hour, 240'000, 60'000);
  const Growth none =
      Judge(Made(120, [&](double i) { return swing(i) * (static_cast<int>(i) % 5 == 0 ? 0 : 1); }));
  EXPECT_NE(none.verdict, GrowthVerdict::kGrows) << none.reason;
}

TEST(Growth, OfWhatSlowsDownAllThroughTheRunIsNotClaimed) {
  for (const double power : {0.3, 0.5}) {
    const Growth keys =
        Judge(Made(120, [&](double i) { return 10 * kMiB * std::pow(i / 120, power); }));
    EXPECT_NE(keys.verdict, GrowthVerdict::kGrows) << power << ": " << keys.reason;
  }
  const Growth leak =
      Judge(Made(120, [](double i) { return 10 * kMiB * std::pow(i / 120, 0.85); }));
  EXPECT_EQ(leak.verdict, GrowthVerdict::kGrows) << leak.reason;
}

TEST(Growth, OfOneLateStepOnWhatHardlyGrowsIsNone) {
  const Growth growth =
      Judge(Made(120, [](double i) { return 10 * kMiB + 300 * i + (i > 90 ? 5 * kMiB : 0); }));
  EXPECT_TRUE(growth.verdict != GrowthVerdict::kGrows || growth.bytes_per_hour < 20'000)
      << growth.reason << " " << growth.bytes_per_hour;
}

TEST(Growth, OfFewBlocksThatComeAndGoIsNotClaimed) {
  const Series few = Made(
      60, [](double i) { return (1 + std::floor(i / 10) - static_cast<int>(i) % 2) * 100'000; });
  const auto blocks = [](double i) {
    return static_cast<uint64_t>(1 + std::floor(i / 10)) - static_cast<uint64_t>(i) % 2;
  };
  EXPECT_EQ(Judge(few).verdict, GrowthVerdict::kGrows);
  EXPECT_EQ(JudgeBlocks(few, blocks).verdict, GrowthVerdict::kUndecided);
  EXPECT_EQ(JudgeBlocks(few, [&](double i) { return 10 * blocks(i); }).verdict,
            GrowthVerdict::kGrows);
}

TEST(Growth, KnowsSinceWhenHalfOfItWasThere) {
  // 100 at the end; 49 is less than half of it, 50 is not.
  const std::vector<uint64_t> times = {0, 10, 20, 30, 40};
  EXPECT_EQ(JudgeGrowth(times, std::vector<uint64_t>{90, 49, 50, 60, 100}, {}).held_ms, 20u);
  EXPECT_EQ(JudgeGrowth(times, std::vector<uint64_t>{90, 80, 50, 60, 100}, {}).held_ms, 40u);
  EXPECT_EQ(JudgeGrowth(times, std::vector<uint64_t>{0, 0, 0, 0, 100}, {}).held_ms, 0u);
  EXPECT_EQ(JudgeGrowth(times, std::vector<uint64_t>{0, 0, 0, 0, 0}, {}).held_ms, 40u);
}

TEST(Growth, OfADamagedCaptureIsSomeFiniteVerdict) {
  Series still = Made(100, [](double i) { return 1e6 * i; });
  std::fill(still.times_ms.begin(), still.times_ms.end(), 5);
  EXPECT_EQ(Judge(still).verdict, GrowthVerdict::kUndecided);
  Series half = Made(100, [](double i) { return 1e6 * i; });
  std::fill(half.times_ms.begin(), half.times_ms.begin() + 60, 0);
  const Growth growth = Judge(half);
  EXPECT_TRUE(std::isfinite(growth.bytes_per_hour));
  EXPECT_TRUE(std::isfinite(growth.low) && std::isfinite(growth.high));
}

TEST(Growth, ReadsAHistoryMomentByMoment) {
  const LiveHistory history = {{1, {100, 1}}, {3, {40, 2}}};
  EXPECT_EQ(LiveBytesOf(history, 5), (std::vector<uint64_t>{0, 100, 100, 40, 40}));
  EXPECT_EQ(LiveBlocksOf(history, 5), (std::vector<uint64_t>{0, 1, 1, 2, 2}));
  EXPECT_EQ(LiveBytesOf({}, 2), (std::vector<uint64_t>{0, 0}));
}

}  // namespace
}  // namespace memprof

#include "cli/supervisor/images/uniform_series.h"

#include <gtest/gtest.h>

#include <random>

namespace memprof {
namespace {

struct Sample {
  uint64_t time_ms = 0;
};

using Series = UniformSeries<Sample>;

void ExpectUniform(const Series& series, size_t most, uint64_t newest) {
  const auto& samples = series.samples();
  ASSERT_FALSE(samples.empty());
  EXPECT_LE(samples.size(), most);
  EXPECT_EQ(samples.back().time_ms, newest);
  for (size_t i = 1; i < samples.size(); ++i) {
    EXPECT_LT(samples[i - 1].time_ms, samples[i].time_ms);
    if (i + 1 == samples.size()) break;  // the newest may share its interval
    EXPECT_NE(samples[i - 1].time_ms / series.interval_ms(),
              samples[i].time_ms / series.interval_ms());
  }
}

TEST(UniformSeries, KeepsTheFirstOfEachIntervalAndTheNewestForAWeek) {
  constexpr size_t kMost = 128;
  constexpr uint64_t kWeek = 7ull * 86400 * 1000;
  Series series(16, kMost);
  uint64_t looks = 0;
  for (uint64_t now = 0; now < kWeek; now = series.NextDueMs()) {
    series.Add({now});
    ++looks;
    ExpectUniform(series, kMost, now);
  }
  // Without jitter no sample is missing: each interval has one, at its begin.
  const auto& samples = series.samples();
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].time_ms, i * series.interval_ms());
  }
  EXPECT_GE(samples.size(), kMost / 2);
  // And half of them a doubling: that is what a week costs.
  EXPECT_LT(looks, kMost / 2 * 40);
}

TEST(UniformSeries, StaysUniformWhateverIsLateOrMissing) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    const size_t most = 2 + random() % 30;
    Series series(1 + random() % 20, most);
    uint64_t now = random() % 10;
    for (int i = 0; i < 500 && now < uint64_t{1} << 50; ++i) {  // ages
      series.Add({now});
      ExpectUniform(series, most, now);
      // Looks that are due, a little late, at a random moment as for a checkpoint, or after a long
      // sleep.
      const uint64_t due = series.NextDueMs();
      switch (random() % 4) {
        case 0:
          now = due;
          break;
        case 1:
          now = due + random() % 5;
          break;
        case 2:
          now += random() % 10;
          break;
        default:
          now = due + random() % 10'000;
      }
    }
  }
}

TEST(UniformSeries, LosesNoIntervalThatWasSeen) {
  std::mt19937 random(2);
  Series series(1, 64);
  std::vector<uint64_t> all;
  for (uint64_t now = 0; now < 100'000; now = series.NextDueMs() + random() % 3) {
    all.push_back(now);
    series.Add({now});
  }
  // The first look in each interval of the final length, if there was one, is kept.
  std::vector<uint64_t> expected;
  for (const uint64_t time : all) {
    const bool first =
        expected.empty() || expected.back() / series.interval_ms() != time / series.interval_ms();
    if (first || time == all.back()) expected.push_back(time);
  }
  std::vector<uint64_t> kept;
  for (const Sample& sample : series.samples()) kept.push_back(sample.time_ms);
  EXPECT_EQ(kept, expected);
}

TEST(UniformSeries, ReplacesTheNewestThatSharedItsInterval) {
  Series series(10, 8);
  for (const uint64_t time : {0u, 10u, 13u, 17u}) series.Add({time});
  ASSERT_EQ(series.samples().size(), 3u);
  EXPECT_EQ(series.samples()[2].time_ms, 17u);
  series.Add({20});
  ASSERT_EQ(series.samples().size(), 3u);
  EXPECT_EQ(series.samples()[1].time_ms, 10u);
  EXPECT_EQ(series.samples()[2].time_ms, 20u);
}

}  // namespace
}  // namespace memprof

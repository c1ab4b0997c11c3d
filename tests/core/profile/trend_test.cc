#include "core/profile/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace memprof {
namespace {

std::vector<double> UpTo(size_t n) {
  std::vector<double> times;
  for (size_t i = 0; i < n; ++i) times.push_back(static_cast<double>(i));
  return times;
}

TEST(Trend, OfALineIsItsSlopeWithoutDoubt) {
  std::vector<double> values;
  for (const double t : UpTo(30)) values.push_back(5 + 3 * t);
  const Trend trend = TrendOf(UpTo(30), values);
  EXPECT_DOUBLE_EQ(trend.slope, 3);
  EXPECT_DOUBLE_EQ(trend.low, 3);
  EXPECT_DOUBLE_EQ(trend.high, 3);
  EXPECT_EQ(trend.s, 30 * 29 / 2);
  EXPECT_LT(trend.p_rises, 1e-12);
}

// By hand, of 1 3 2 2 5: 7 pairs rise, 2 fall, 1 is tied.
TEST(Trend, CountsPairsAndCorrectsForTies) {
  const std::vector<double> values = {1, 3, 2, 2, 5};
  const Trend trend = TrendOf(UpTo(5), values);
  EXPECT_EQ(trend.s, 7 - 2);
  // n(n−1)(2n+5)/18 less t(t−1)(2t+5)/18 of the tie of two.
  EXPECT_DOUBLE_EQ(trend.variance, (5 * 4 * 15 - 2 * 1 * 9) / 18.0);
  EXPECT_NEAR(trend.p_rises, std::erfc((5 - 1) / std::sqrt(trend.variance) / std::sqrt(2)) / 2,
              1e-12);
  // The ten slopes: −1 −1/2 0 1/3 1/2 2/3 1 3/2 2 3.
  EXPECT_NEAR(trend.slope, (0.5 + 2.0 / 3) / 2, 1e-12);
}

TEST(Trend, KeepsItsSlopeWhateverAQuarterOfTheValuesIs) {
  std::mt19937_64 random(1);
  std::vector<double> values;
  for (const double t : UpTo(100)) values.push_back(random() % 4 == 0 ? 1e9 : 2 * t);
  const Trend trend = TrendOf(UpTo(100), values);
  EXPECT_NEAR(trend.slope, 2, 0.1);
}

TEST(Trend, IntervalHasTheSlopeAsOftenAsItSays) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(0, 10);
  int within = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<double> values;
    for (const double t : UpTo(50)) values.push_back(0.7 * t + noise(random));
    const Trend trend = TrendOf(UpTo(50), values);
    if (trend.low <= 0.7 && 0.7 <= trend.high) ++within;
  }
  EXPECT_GE(within, 400 * 0.92);
}

int Alarms(double kept, double level) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise;
  int alarms = 0;
  for (int run = 0; run < 1000; ++run) {
    std::vector<double> values;
    double value = 0;
    for (size_t i = 0; i < 100; ++i) values.push_back(value = kept * value + noise(random));
    if (TrendOf(UpTo(100), values).p_rises < level) ++alarms;
  }
  return alarms;
}

TEST(Trend, OfNoiseIsFoundAsRarelyAsTheLevelSays) {
  EXPECT_LE(Alarms(0, 0.01), 20);
  // A series with an autocorrelation of 0.8, as live memory has it.
  EXPECT_LE(Alarms(0.8, 0.01), 80);
}

TEST(Trend, NeedsThreeValues) {
  EXPECT_EQ(TrendOf(UpTo(2), std::vector<double>{1, 2}).p_rises, 1);
  EXPECT_EQ(TrendOf({}, {}).slope, 0);
  const Trend flat = TrendOf(UpTo(3), std::vector<double>{4, 4, 4});
  EXPECT_EQ(flat.slope, 0);
  EXPECT_EQ(flat.p_rises, 1);
}

}  // namespace
}  // namespace memprof

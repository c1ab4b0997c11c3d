#include "core/budget/bound.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(Bound, ReadsAmountsInTheLimitsUnit) {
  EXPECT_EQ(*ParseAmount("24 MiB", Unit::kBytes), 24.0 * (1 << 20));
  EXPECT_EQ(*ParseAmount("1000", Unit::kCount), 1000);
  EXPECT_EQ(*ParseAmount("12.5%", Unit::kPercent), 12.5);
  EXPECT_EQ(*ParseAmount("1 MiB/h", Unit::kBytesPerHour), 1 << 20);
  EXPECT_EQ(*ParseAmount("1 MiB", Unit::kBytesPerHour), 1 << 20);
  for (const char* bad : {"", "-1", "1 MiB", "1e3", "1.5", "ten"}) {
    EXPECT_FALSE(ParseAmount(bad, Unit::kCount)) << bad;
  }
  for (const char* bad : {"", "25", "%", "-1%", "inf%", "nan%", "25%%"}) {
    EXPECT_FALSE(ParseAmount(bad, Unit::kPercent)) << bad;
  }
}

TEST(Bound, ReadsIncrements) {
  EXPECT_EQ(ParseIncrement("+5%", Unit::kBytes)->percent, 5);
  EXPECT_EQ(ParseIncrement("+2 MiB", Unit::kBytes)->amount, 2 << 20);
  EXPECT_EQ(ParseIncrement("+100", Unit::kCount)->amount, 100);
  EXPECT_EQ(ParseIncrement("+5%", Unit::kPercent)->percent, 5);
  EXPECT_FALSE(ParseIncrement("5%", Unit::kBytes));
  EXPECT_FALSE(ParseIncrement("-5%", Unit::kBytes));
  EXPECT_FALSE(ParseIncrement("+2 MiB", Unit::kCount));
  EXPECT_FALSE(ParseIncrement("+2", Unit::kPercent));
}

TEST(Bound, AllowsTheLargestIncrementAndTheNoiseFloor) {
  const std::vector<Increment> increments = {{5, 0}, {0, 100}};
  EXPECT_EQ(LargestIncrement(increments, 1000, 0), 100);
  EXPECT_EQ(LargestIncrement(increments, 4000, 0), 200);
  EXPECT_EQ(LargestIncrement(increments, 1000, 150), 150);
  EXPECT_EQ(LargestIncrement({}, 1000, 0), 0);
}

}  // namespace
}  // namespace memprof

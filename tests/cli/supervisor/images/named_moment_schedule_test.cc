#include "cli/supervisor/images/named_moment_schedule.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

using Names = std::vector<std::string>;

TEST(NamedMomentSchedule, IsDueOncePerPeriodByTheNameOfIt) {
  NamedMomentSchedule schedule({60'000, 0, ""});
  EXPECT_EQ(schedule.NextMs(), 60'000u);
  EXPECT_EQ(schedule.Due(59'999, {}), Names());
  EXPECT_EQ(schedule.Due(60'017, {}), Names{"1m"});
  EXPECT_EQ(schedule.Due(60'018, {}), Names());
  EXPECT_EQ(schedule.NextMs(), 120'000u);
}

TEST(NamedMomentSchedule, TakesPeriodsThatWentByForOne) {
  NamedMomentSchedule schedule({60'000, 0, ""});
  EXPECT_EQ(schedule.Due(200'000, {}), Names{"3m"});
  EXPECT_EQ(schedule.NextMs(), 240'000u);
}

TEST(NamedMomentSchedule, SeesTheLimitCrossedAgainOnlyAfterHalfOfIt) {
  NamedMomentSchedule schedule({0, 1000, "1000B"});
  EXPECT_EQ(schedule.NextMs(), std::nullopt);
  EXPECT_EQ(schedule.Due(1, 999), Names());
  EXPECT_EQ(schedule.Due(2, 1000), Names{"rss-1000B"});
  EXPECT_EQ(schedule.Due(3, 600), Names());
  EXPECT_EQ(schedule.Due(4, 1200), Names());
  EXPECT_EQ(schedule.Due(5, 499), Names());
  EXPECT_EQ(schedule.Due(6, 1200), Names{"rss-1000B"});
  EXPECT_EQ(schedule.Due(7, std::nullopt), Names());
}

}  // namespace
}  // namespace memprof

#include "cli/supervisor/images/named_moment_taker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

using std::chrono::steady_clock;

class NamedMomentTakerTest : public testing::Test {
 protected:
  NamedMomentTakerTest() {
    Cell& cell = region_.NewCell(region_.Site(region_.Node(0, 0x5010)));
    cell.allocated_bytes = 100;
    cell.allocated_count = 1;
    region_.SetPeak({100, 100, 1, true});
  }

  Result<NamedMoment> Take(const std::string& name, bool automatic = false) {
    taker_.Ask({name, automatic, -1});
    return taker_.Collect(true).at(0).taken;
  }
  RegionHistory Content() const {
    RegionHistory history;
    taker_.AddTo(history);
    return history;
  }

  MadeRegion region_;
  NamedMomentTaker taker_{region_.fd(), steady_clock::now() - std::chrono::seconds(75)};
};

TEST_F(NamedMomentTakerTest, HasWhatWasLiveThen) {
  ASSERT_TRUE(Take("warm"));
  const RegionHistory content = Content();
  ASSERT_EQ(content.named.size(), 1u);
  EXPECT_EQ(content.named[0].name, "warm");
  EXPECT_FALSE(content.named[0].moment.inexact);
  ASSERT_EQ(content.named[0].moment.sites->size(), 1u);
  EXPECT_EQ(content.named[0].moment.sites->at(0).live, (Count{100, 1}));
}

TEST_F(NamedMomentTakerTest, CallsANamedMomentAfterItsTime) {
  const auto taken = Take("");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->name, NameOfTime(taken->time_ms));
  EXPECT_TRUE(taken->name.starts_with("1m")) << taken->name;
}

TEST_F(NamedMomentTakerTest, TakesAllThatWereAskedForAtOnceInTheirOrder) {
  for (const char* name : {"a", "b", "b"}) taker_.Ask({name, false, -1});
  EXPECT_TRUE(taker_.Busy());
  const auto outcomes = taker_.Collect(true);
  EXPECT_FALSE(taker_.Busy());
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[0].taken->name, "a");
  EXPECT_EQ(outcomes[2].taken->name, "b.2");
}

TEST_F(NamedMomentTakerTest, LetsTheOldestAutomaticOneGoForANewOne) {
  ASSERT_TRUE(Take("mine"));
  for (size_t i = 0; i < kMaxNamedMoments + 2; ++i) ASSERT_TRUE(Take(std::to_string(i), true));
  const RegionHistory content = Content();
  ASSERT_EQ(content.named.size(), kMaxNamedMoments);
  EXPECT_EQ(content.named_left_out, 3u);
  EXPECT_EQ(content.named[0].name, "mine");
  EXPECT_EQ(content.named[1].name, "3");
  EXPECT_EQ(content.named.back().name, std::to_string(kMaxNamedMoments + 1));
}

TEST_F(NamedMomentTakerTest, RefusesOneMoreWhereAllWereAskedFor) {
  for (size_t i = 0; i < kMaxNamedMoments; ++i) ASSERT_TRUE(Take(std::to_string(i)));
  EXPECT_FALSE(Take("late"));
  EXPECT_FALSE(Take("later", true));
  EXPECT_EQ(Content().named.size(), kMaxNamedMoments);
  EXPECT_EQ(Content().named_left_out, 2u);
}

TEST(NameOfTime, IsHowPeopleWriteIt) {
  EXPECT_EQ(NameOfTime(0), "0s");
  EXPECT_EQ(NameOfTime(1250), "1s250ms");
  EXPECT_EQ(NameOfTime(90'400), "1m30s");
  EXPECT_EQ(NameOfTime(600'000), "10m");
  EXPECT_EQ(NameOfTime(26 * 3'600'000 + 1000), "1d2h1s");
}

}  // namespace
}  // namespace memprof

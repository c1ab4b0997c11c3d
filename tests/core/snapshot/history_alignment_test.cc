#include "core/snapshot/history_alignment.h"

#include <gtest/gtest.h>

#include <random>

namespace memprof {
namespace {

Timeline AnyTimeline(std::mt19937_64& random) {
  Timeline timeline = {uint64_t{1} << random() % 6, {}};
  uint64_t time = 0;
  for (uint64_t n = random() % 40 + 1; n > 0; --n) {
    TimelinePoint point = {time += random() % 70, random() % 1000, std::nullopt};
    if (random() % 3 != 0) point.rss_bytes = random() % 1000;
    timeline.points.push_back(point);
  }
  return timeline;
}

TEST(AlignedInterval, IsAPowerOfTwoThatIsLongEnough) {
  EXPECT_EQ(AlignedInterval(16, 100, 128), 16u);
  EXPECT_EQ(AlignedInterval(17, 100, 128), 32u);
  EXPECT_EQ(AlignedInterval(0, 0, 2), 1u);
  EXPECT_EQ(AlignedInterval(16, 16 * 128 - 1, 128), 16u);
  EXPECT_EQ(AlignedInterval(16, 16 * 128, 128), 32u);
  EXPECT_EQ(AlignedInterval(UINT64_MAX, INT64_MAX, 2), uint64_t{1} << 62);
}

TEST(Align, HasInEachIntervalWhatWasThereLast) {
  const Timeline timeline = {4, {{1, 10, 5}, {3, 20, std::nullopt}, {9, 30, 7}}};
  const Timeline aligned = Align(timeline, 4);
  EXPECT_EQ(aligned.points, (std::vector<TimelinePoint>{{3, 20, 5}, {7, 20, 5}, {11, 30, 7}}));
}

TEST(Align, HasNothingBeforeTheFirstSample) {
  const Timeline aligned = Align({4, {{9, 30, 7}}}, 4);
  ASSERT_EQ(aligned.points.size(), 3u);
  EXPECT_EQ(aligned.points[0], (TimelinePoint{3, 0, std::nullopt}));
}

TEST(Align, IsTheSameInOneStepAndInTwo) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const Timeline timeline = AnyTimeline(random);
    const uint64_t fine = 32u << random() % 3;
    const uint64_t coarse = fine << random() % 4;
    EXPECT_EQ(Align(Align(timeline, fine), coarse), Align(timeline, coarse));
  }
}

TEST(Align, CommutesWithTheSum) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const Timeline a = AnyTimeline(random);
    const Timeline b = AnyTimeline(random);
    EXPECT_EQ(Align(SumOf(Align(a, 32), Align(b, 32)), 128), SumOf(Align(a, 128), Align(b, 128)));
  }
}

TEST(SumOfTimelines, HasWhatAnEndedOneHadLast) {
  const Timeline a = {4, {{3, 10, 1}, {7, 20, 2}, {11, 30, 3}}};
  const Timeline b = {4, {{3, 100, std::nullopt}}};
  EXPECT_EQ(SumOf(a, b).points,
            (std::vector<TimelinePoint>{{3, 110, 1}, {7, 120, 2}, {11, 130, 3}}));
  EXPECT_EQ(SumOf(a, b), SumOf(b, a));
  EXPECT_EQ(SumOf(a, {}), a);
}

TEST(AlignMoments, TakesEachSitesFiguresAlong) {
  const Moments moments = {16, {{16, false}, {33, true}, {34, false}, {100, true}}};
  const AlignedMoments aligned = Align(moments, 32);
  EXPECT_EQ(aligned.moved, (std::vector<uint32_t>{0, 1, 1, 3}));
  EXPECT_EQ(aligned.moments.at,
            (std::vector<Moment>{{31, false}, {63, false}, {95, false}, {127, true}}));
  // Up and down again within an interval is nothing.
  EXPECT_EQ(Moved({{0, {1, 1}}, {1, {9, 9}}, {2, {1, 1}}, {3, {2, 2}}}, aligned.moved),
            (LiveHistory{{0, {1, 1}}, {3, {2, 2}}}));
}

}  // namespace
}  // namespace memprof

#include "cli/supervisor/images/image_history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(ImageHistory, TakesPointsAndMomentsWhenTheyAreDue) {
  MadeRegion region;
  Cell& cell = region.NewCell(region.Site(region.Node(0, 0x5010)));
  cell.allocated_bytes = 100;
  cell.allocated_count = 1;
  region.SetPeak({100, 100, 1, true});
  // Time 0 is long ago: the first look finds both due, even on a slow machine.
  ImageHistory history(region.fd(), getpid(), steady_clock::now() - milliseconds(1000));
  history.Look();
  const RegionHistory content = history.Content(false);  // waits for the moment
  ASSERT_EQ(content.moments.size(), 1u);
  EXPECT_GE(content.moments[0].time_ms, 1000u);
  ASSERT_EQ(content.moments[0].sites->size(), 1u);
  EXPECT_EQ(content.moments[0].sites->at(0).live, (Count{100, 1}));
  ASSERT_GE(content.timeline.points.size(), 1u);
  EXPECT_EQ(content.timeline.points.front().heap_bytes, 100u);
  EXPECT_EQ(content.timeline.points.back().rss_bytes, std::nullopt);
  EXPECT_GT(history.NextLook(), steady_clock::now() - milliseconds(100));
}

TEST(ImageHistory, KeepsOnceWhatDidNotChange) {
  MadeRegion region;
  Cell& cell = region.NewCell(region.Site(region.Node(0, 0x5010)));
  cell.allocated_bytes = 100;
  cell.allocated_count = 1;
  ImageHistory history(region.fd(), getpid(), steady_clock::now());
  auto next_moments = [&] {  // with one more, however coarse they became
    const auto before = history.Content(false).moments;
    for (;;) {
      std::this_thread::sleep_until(history.NextLook());
      history.Look();
      const auto now = history.Content(false).moments;
      if (!now.empty() && (before.empty() || now.back().time_ms > before.back().time_ms)) {
        return now;
      }
    }
  };
  const auto first = next_moments();
  const auto still = next_moments();
  EXPECT_EQ(still.back().sites, first.back().sites);  // the same vector
  cell.allocated_bytes = 300;
  cell.allocated_count = 3;
  const auto changed = next_moments();
  EXPECT_NE(changed.back().sites, still.back().sites);
  EXPECT_EQ(changed.back().sites->at(0).live, (Count{300, 3}));
}

TEST(ImageHistory, KnowsTheResidentMemoryOfAProcessThatIsThere) {
  MadeRegion region;
  ImageHistory history(region.fd(), getpid(), steady_clock::now());
  std::this_thread::sleep_for(milliseconds(2));
  const RegionHistory content = history.Content(true);
  ASSERT_TRUE(content.timeline.points.back().rss_bytes.has_value());
  EXPECT_GT(*content.timeline.points.back().rss_bytes, 100'000u);
  EXPECT_EQ(content.timeline.interval_ms, kFirstTimelineIntervalMs);
  EXPECT_EQ(content.moments_interval_ms, kFirstMomentsIntervalMs);
}

TEST(ImageHistory, ForgetsTheResidentMemoryOfAnotherProgram) {
  MadeRegion region;
  const auto start = steady_clock::now() - milliseconds(1000);
  ImageHistory history(region.fd(), getpid(), start);  // with a point now
  std::this_thread::sleep_for(milliseconds(2));
  const auto since = steady_clock::now();
  EXPECT_TRUE(history.Content(true).timeline.points.back().rss_bytes.has_value());
  history.ForgetResidentSince(since);
  const auto points = history.Content(false).timeline.points;
  for (const TimelinePoint& point : points) {
    const bool own = start + milliseconds(point.time_ms + 1) <= since;
    EXPECT_EQ(point.rss_bytes.has_value(), own) << point.time_ms;
  }
  EXPECT_TRUE(points.front().rss_bytes.has_value());
}

TEST(ImageHistory, DoesNotAskForEverForWhatCanNotBeRead) {
  MadeRegion region;
  region.header().magic = 0;  // no moment can be read of it
  ImageHistory broken(region.fd(), getpid(), steady_clock::now() - milliseconds(1000));
  broken.Look();
  const RegionHistory content = broken.Content(false);
  EXPECT_TRUE(content.moments.empty());
  EXPECT_GT(broken.NextLook(), steady_clock::now() + milliseconds(100));
}

}  // namespace
}  // namespace memprof

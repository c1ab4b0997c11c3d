// A supervisor keeps no more of a run of weeks than of one of minutes, and neither does the
// capture. The clock is the test's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <vector>

#include "cli/supervisor/images/image_history.h"
#include "core/region/region_reader.h"
#include "formats/capture/capture_writer.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint64_t kMinute = 60'000, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr size_t kSites = 100;
constexpr uint64_t kBlock = 1000;  // bytes

std::atomic<uint64_t> simulated_ms;
steady_clock::time_point SimulatedNow() {
  return steady_clock::time_point(milliseconds(simulated_ms));
}

// A program whose sites have up to 256 blocks each, about a million events a second in all.
class SteadyProgram {
 public:
  SteadyProgram() {
    for (size_t i = 0; i < kSites; ++i) {
      cells_.push_back(&region_.NewCell(region_.Site(region_.Node(0, 0x5010 + 16 * i))));
    }
  }
  const MadeRegion& region() const { return region_; }

  // Half of the sites have other live bytes than before; all have allocated and freed since.
  void RunFor(uint64_t ms) {
    uint64_t live = 0;
    for (size_t i = 0; i < kSites; ++i) {
      Cell& cell = *cells_[i];
      const uint64_t events = ms * 5;
      const uint64_t blocks = i % 2 == 0 ? 100 : random_() % 256;
      cell.freed_count = cell.allocated_count + events - blocks % (events + 1);
      cell.allocated_count = cell.allocated_count + events;
      cell.allocated_bytes = cell.allocated_count * kBlock;
      cell.freed_bytes = cell.freed_count * kBlock;
      live += (cell.allocated_count - cell.freed_count) * kBlock;
    }
    highest_ = std::max(highest_, live);
    region_.SetPeak({static_cast<int64_t>(live), highest_, 1, false});
  }

 private:
  MadeRegion region_;
  std::vector<Cell*> cells_;
  std::mt19937_64 random_{1};
  uint64_t highest_ = 0;
};

struct Kept {
  size_t points = 0, moments = 0, figures = 0, capture_bytes = 0;
};

// The most of each from now until that time.
Kept RunUntil(uint64_t until_ms, SteadyProgram& program, ImageHistory& history) {
  Kept most;
  while (simulated_ms < until_ms) {
    const uint64_t now = simulated_ms;
    const auto next = std::chrono::ceil<milliseconds>(history.NextLook().time_since_epoch());
    simulated_ms = std::max(now + 1, static_cast<uint64_t>(next.count()));
    program.RunFor(simulated_ms - now);
    history.Look();
    const RegionHistory content = history.Content(false);  // waits for a moment being read
    size_t figures = 0;
    for (const RegionMoment& moment : content.moments) figures += moment.sites->size();
    most.points = std::max(most.points, content.timeline.points.size());
    most.moments = std::max(most.moments, content.moments.size());
    most.figures = std::max(most.figures, figures);
    // At their most, right before every second one goes.
    if (content.moments.size() < kMaxMoments ||
        content.timeline.points.size() < kMaxTimelinePoints / 2) {
      continue;
    }
    SnapshotProgram what;
    what.duration_ms = simulated_ms;
    const auto snapshot = ReadRegion(program.region().fd(), what, content);
    EXPECT_TRUE(snapshot.has_value());
    if (snapshot) {
      most.capture_bytes = std::max(most.capture_bytes, EncodeCapture(*snapshot).size());
    }
  }
  return most;
}

TEST(LongRun, OfThreeWeeksKeepsWhatARunOfMinutesKeeps) {
  simulated_ms = 0;
  SteadyProgram program;
  ImageHistory history(program.region().fd(), getpid(), SimulatedNow(), SimulatedNow);
  const Kept minutes = RunUntil(10 * kMinute, program, history);
  ASSERT_GT(minutes.capture_bytes, 0u);
  for (const uint64_t until : {kDay, 7 * kDay, 21 * kDay}) {
    const Kept later = RunUntil(until, program, history);
    ASSERT_GT(later.capture_bytes, 0u) << until;
    EXPECT_LE(later.points, kMaxTimelinePoints);
    EXPECT_LE(later.moments, kMaxMoments);
    EXPECT_LE(later.figures, minutes.figures * 11 / 10);
    // Larger totals and times take a byte more here and there.
    EXPECT_LE(later.capture_bytes, minutes.capture_bytes * 11 / 10) << until;
    EXPECT_GE(later.capture_bytes, minutes.capture_bytes * 9 / 10) << until;
  }
  const RegionHistory end = history.Content(false);
  EXPECT_GE(end.moments.back().time_ms, 20 * kDay);
  EXPECT_LE(end.moments.front().time_ms, end.moments_interval_ms + kHour);
  EXPECT_GE(end.moments_interval_ms, 21 * kDay / kMaxMoments / 2);
}

TEST(LongRun, OfAProgramThatStandsStillKeepsOneFigureASite) {
  simulated_ms = 0;
  SteadyProgram program;
  program.RunFor(100);
  ImageHistory history(program.region().fd(), getpid(), SimulatedNow(), SimulatedNow);
  for (const uint64_t until : {kMinute, 7 * kDay}) {
    while (simulated_ms < until) {
      const auto next = std::chrono::ceil<milliseconds>(history.NextLook().time_since_epoch());
      simulated_ms = std::max<uint64_t>(simulated_ms + 1, static_cast<uint64_t>(next.count()));
      history.Look();
      history.Content(false);
    }
    const std::vector<LiveHistory> by_site =
        HistoriesBySite(history.Content(false).moments, kSites);
    for (const LiveHistory& of_site : by_site) EXPECT_LE(of_site.size(), 1u);
  }
}

}  // namespace
}  // namespace memprof

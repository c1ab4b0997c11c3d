#include "cli/reports/timeline_chart.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memprof {
namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return lines;
}

TimelinePoint Point(uint64_t time_ms, uint64_t heap) { return {time_ms, heap, 4096}; }

TEST(TimelineChart, DrawsTheHighestOfEachColumnToScale) {
  const Timeline timeline = {
      10, {Point(0, 0), Point(10, 1024), Point(20, 2048), Point(30, 3072), Point(39, 512)}};
  const auto lines = LinesOf(TimelineChart(timeline, 16, {100, false}));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0], "heap over time       3.0 KiB ▕   █");
  EXPECT_EQ(lines[1], "                             ▕  ██");
  EXPECT_EQ(lines[2], "                         0 B ▕ ███▄");
  EXPECT_EQ(lines[3], "RSS over time        4.0 KiB ▕█████");
  EXPECT_EQ(lines[6], "                0 ms … 39 ms, 8 ms a column");
}

TEST(TimelineChart, ShowsWhatWasThereBeforeWhereNothingWasSeen) {
  const Timeline timeline = {1, {Point(0, 100), Point(1, 100), Point(9, 50), Point(10, 50)}};
  const auto lines = LinesOf(TimelineChart(timeline, 16, {100, false}));
  EXPECT_EQ(lines[2], "                         0 B ▕████");
  EXPECT_EQ(lines[0].substr(lines[0].find("▕")), "▕███");
}

TEST(TimelineChart, DrawsWhatIsSmallButThere) {
  const Timeline timeline = {1, {Point(0, 1), Point(1, 1'000'000)}};
  EXPECT_NE(LinesOf(TimelineChart(timeline, 16, {100, false}))[2].find("▁█"), std::string::npos);
}

TEST(TimelineChart, FitsTheWidth) {
  Timeline timeline = {1, {}};
  for (uint64_t i = 0; i < 512; ++i) timeline.points.push_back(Point(i, i));
  for (const size_t width : {60u, 80u, 133u}) {
    size_t widest = 0;
    for (const std::string& line : LinesOf(TimelineChart(timeline, 22, {width, false}))) {
      widest = std::max(widest, Columns(line));
    }
    EXPECT_LE(widest, width);
    EXPECT_GE(widest, width - (width - 36) / 2);
  }
}

TEST(TimelineChart, OfNothingIsNothing) {
  EXPECT_EQ(TimelineChart({}, 22, {80, false}), "");
  // One point, at once at its end.
  EXPECT_EQ(LinesOf(TimelineChart({4, {{0, 0, std::nullopt}}}, 22, {80, false})).size(), 7u);
}

}  // namespace
}  // namespace memprof

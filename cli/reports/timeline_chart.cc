#include "cli/reports/timeline_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kLines = 3;
constexpr size_t kLevels = 8;  // of a line
constexpr size_t kScaleColumns = 12;
constexpr size_t kLeastColumns = 10;
constexpr size_t kMostColumns = 120;
constexpr std::string_view kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

using Bars = std::vector<std::optional<uint64_t>>;  // none: not known

std::optional<uint64_t> HeapOf(const TimelinePoint& point) { return point.heap_bytes; }
std::optional<uint64_t> RssOf(const TimelinePoint& point) { return point.rss_bytes; }

Bars BarsOf(const Timeline& timeline, std::optional<uint64_t> (*value)(const TimelinePoint&),
            uint64_t column_ms, size_t columns) {
  Bars bars(columns);
  std::vector<bool> seen(columns);
  for (const TimelinePoint& point : timeline.points) {
    const size_t column = std::min<uint64_t>(point.time_ms / column_ms, columns - 1);
    seen[column] = true;
    if (const auto bytes = value(point); bytes && *bytes >= bars[column].value_or(0)) {
      bars[column] = bytes;
    }
  }
  for (size_t i = 1; i < columns; ++i) {
    if (!seen[i]) bars[i] = bars[i - 1];
  }
  return bars;
}

std::string Chart(const char* name, const Bars& bars, size_t indent) {
  uint64_t highest = 0;
  for (const auto& bar : bars) highest = std::max(highest, bar.value_or(0));
  std::string text;
  for (size_t line = kLines; line-- > 0;) {
    const std::string scale = line == kLines - 1 ? FormatBytes(highest) : line == 0 ? "0 B" : "";
    text +=
        fmt::format("{:<{}}{:>{}} ▕", line == kLines - 1 ? name : "", indent, scale, kScaleColumns);
    std::string cells;
    for (const auto& bar : bars) {
      const double share =
          highest == 0 ? 0 : static_cast<double>(bar.value_or(0)) / static_cast<double>(highest);
      auto levels = static_cast<size_t>(share * static_cast<double>(kLines * kLevels) + 0.5);
      if (bar.value_or(0) > 0) levels = std::max<size_t>(levels, 1);
      const size_t below = line * kLevels;
      cells += kBars[levels > below ? std::min(levels - below, kLevels) : 0];
    }
    cells.erase(cells.find_last_not_of(' ') + 1);
    text += cells + "\n";
  }
  return text;
}

}  // namespace

std::string TimelineChart(const Timeline& timeline, size_t indent, const TextStyle& style) {
  if (timeline.points.empty()) return {};
  const size_t used = indent + kScaleColumns + 2;
  const size_t room = style.width > used ? style.width - used : 0;
  const uint64_t end_ms = timeline.points.back().time_ms + 1;
  // No more columns than there are points to show.
  const size_t wanted = std::clamp(room, kLeastColumns, kMostColumns);
  const size_t most = std::max<size_t>(std::min(wanted, timeline.points.size()), 1);
  const uint64_t column_ms = end_ms / most + (end_ms % most != 0 ? 1 : 0);
  const auto columns = static_cast<size_t>(end_ms / column_ms + (end_ms % column_ms != 0 ? 1 : 0));
  return Chart("heap over time", BarsOf(timeline, HeapOf, column_ms, columns), indent) +
         Chart("RSS over time", BarsOf(timeline, RssOf, column_ms, columns), indent) +
         fmt::format("{:{}}0 ms … {}, {} a column\n", "", indent,
                     FormatDuration(timeline.points.back().time_ms), FormatDuration(column_ms));
}

}  // namespace memprof

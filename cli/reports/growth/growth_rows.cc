#include "cli/reports/growth/growth_rows.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "cli/reports/rows.h"

namespace memprof {
namespace {

// The moments that are judged: a part of the profile's.
struct Window {
  size_t from = 0, to = 0;
  std::vector<uint64_t> times_ms;
  std::span<const uint64_t> Times() const { return std::span(times_ms).subspan(from, to - from); }
  std::vector<uint64_t> Bytes(const LiveHistory& history) const {
    const std::vector<uint64_t> all = LiveBytesOf(history, times_ms.size());
    return {all.begin() + static_cast<std::ptrdiff_t>(from),
            all.begin() + static_cast<std::ptrdiff_t>(to)};
  }
};

Window WindowOf(const Profile& profile, uint64_t since_ms) {
  Window window;
  window.times_ms = TimesOf(profile.moments);
  const bool until = profile.chosen && (profile.chosen->kind == MomentSelector::Kind::kTime ||
                                        profile.chosen->kind == MomentSelector::Kind::kNamed);
  for (const uint64_t time : window.times_ms) {
    if (time < since_ms) ++window.from;
    if (!until || time <= profile.chosen->time_ms) ++window.to;
  }
  window.from = std::min(window.from, window.to);
  return window;
}

// Balanced, so that a place of many sites costs no more for each of them.
LiveHistory SumOfSites(const Profile& profile, std::span<const uint32_t> sites) {
  if (sites.empty()) return {};
  if (sites.size() == 1) return profile.sites[sites[0]].history;
  const size_t half = sites.size() / 2;
  return SumOf(SumOfSites(profile, sites.first(half)), SumOfSites(profile, sites.subspan(half)));
}

uint32_t LeafThatGrewMost(const Profile& profile, std::span<const uint32_t> sites, uint32_t from,
                          uint32_t last) {
  uint32_t leaf = 0;
  int64_t most = 0;
  for (const uint32_t index : sites) {
    const ProfileSite& site = profile.sites[index];
    const auto grew =
        static_cast<int64_t>(LiveAt(site.history, last).bytes - LiveAt(site.history, from).bytes);
    if (leaf != 0 && grew <= most) continue;
    leaf = site.node;
    most = grew;
  }
  return leaf;
}

int OrderOf(GrowthVerdict verdict) { return static_cast<int>(verdict); }

bool Before(const GrowthRow& a, const GrowthRow& b) {
  if (a.growth.verdict != b.growth.verdict) {
    return OrderOf(a.growth.verdict) < OrderOf(b.growth.verdict);
  }
  if (a.growth.verdict == GrowthVerdict::kGrows &&
      a.growth.bytes_per_hour != b.growth.bytes_per_hour) {
    return a.growth.bytes_per_hour > b.growth.bytes_per_hour;
  }
  if (a.live.bytes != b.live.bytes) return a.live.bytes > b.live.bytes;
  return std::tie(a.function, a.file, a.line, a.module) <
         std::tie(b.function, b.file, b.line, b.module);
}

std::optional<Growth> JudgeBesideHeap(const Profile& profile, const Window& window) {
  if (window.from == window.to) return std::nullopt;
  const uint64_t from_ms = window.Times().front(), until_ms = window.Times().back();
  std::vector<uint64_t> times, bytes;
  uint64_t most = 0;
  const auto& points = profile.timeline.points;
  // As many as moments at most: that is what the judge was scored with.
  const size_t every = points.size() / kMaxMoments + 1;
  for (size_t i = 0; i < points.size(); i += every) {
    const TimelinePoint& point = points[i];
    if (!point.rss_bytes || point.time_ms < from_ms || point.time_ms > until_ms) continue;
    times.push_back(point.time_ms);
    bytes.push_back(*point.rss_bytes - std::min(point.heap_bytes, *point.rss_bytes));
    most = std::max(most, *point.rss_bytes);
  }
  if (times.empty()) return std::nullopt;
  GrowthOptions options;
  options.floor_bytes = GrowthFloor(most);
  return JudgeGrowth(times, bytes, options);
}

}  // namespace

GrowthReport MakeGrowthReport(const Profile& profile, uint64_t since_ms) {
  const Window window = WindowOf(profile, since_ms);
  const std::span<const uint64_t> times = window.Times();
  GrowthReport report;
  report.moments = times.size();
  report.interval_ms = profile.moments.interval_ms;
  if (!times.empty()) {
    report.from_ms = times.front();
    report.until_ms = times.back();
  }

  std::vector<std::vector<uint64_t>> series;
  std::vector<uint64_t> program(times.size(), 0);
  const std::vector<LocationRow> places = LocationRows(profile, {});
  for (const LocationRow& place : places) {
    series.push_back(window.Bytes(SumOfSites(profile, place.sites)));
    for (size_t i = 0; i < program.size(); ++i) program[i] += series.back()[i];
  }
  GrowthOptions options;
  options.floor_bytes =
      GrowthFloor(program.empty() ? 0 : *std::max_element(program.begin(), program.end()));
  report.floor_bytes = options.floor_bytes;
  options.judged =
      static_cast<size_t>(std::count_if(series.begin(), series.end(), [&](const auto& bytes) {
        return ExceedsFloor(bytes, options.floor_bytes);
      }));

  Variance variance;
  for (size_t i = 0; i < places.size(); ++i) {
    const LocationRow& place = places[i];
    GrowthRow row = {place.function, place.file, place.line, place.module, {}, {}, 0,
                     place.stacks,   0};
    Variance of_row;
    if (!times.empty()) {
      for (const uint32_t site : place.sites) {
        const Count live =
            LiveAt(profile.sites[site].history, static_cast<uint32_t>(window.to - 1));
        row.live += live;
        of_row += VarianceOf(live, profile.tracker.sample_bytes);
      }
    }
    variance += of_row;
    row.error_bytes = StandardError(of_row).bytes;
    GrowthOptions of_place = options;
    of_place.standard_error_bytes = static_cast<double>(row.error_bytes);
    row.growth = JudgeGrowth(times, series[i], of_place);
    if (place.function != kRuntimeRow && !times.empty()) {
      row.heaviest_node = LeafThatGrewMost(profile, place.sites,
                                           static_cast<uint32_t>(window.from + row.growth.warm_up),
                                           static_cast<uint32_t>(window.to - 1));
    }
    report.live += row.live;
    report.rows.push_back(std::move(row));
  }
  std::sort(report.rows.begin(), report.rows.end(), Before);
  options.judged = 1;
  options.standard_error_bytes = static_cast<double>(StandardError(variance).bytes);
  report.program = JudgeGrowth(times, program, options);
  report.beside_heap = JudgeBesideHeap(profile, window);
  return report;
}

GrowthRate RateOf(const Growth& growth) {
  return {growth.bytes_per_hour,
          std::max(growth.high - growth.bytes_per_hour, growth.bytes_per_hour - growth.low), 1};
}

GrowthRate SumOfGrowing(const GrowthReport& report) {
  GrowthRate sum;
  for (const GrowthRow& row : report.rows) {
    if (row.growth.verdict != GrowthVerdict::kGrows) continue;
    const GrowthRate rate = RateOf(row.growth);
    sum.bytes_per_hour += rate.bytes_per_hour;
    sum.error = std::hypot(sum.error, rate.error);
    ++sum.places;
  }
  return sum;
}

std::optional<uint64_t> TimeUntilMs(uint64_t limit_bytes, uint64_t live_bytes,
                                    double bytes_per_hour) {
  constexpr double kMsPerHour = 3600e3, kMost = 1000 * 365.25 * 24 * kMsPerHour;
  if (live_bytes >= limit_bytes) return 0;
  if (bytes_per_hour <= 0) return std::nullopt;
  const double ms = static_cast<double>(limit_bytes - live_bytes) / bytes_per_hour * kMsPerHour;
  if (ms > kMost) return std::nullopt;
  return static_cast<uint64_t>(ms);
}

}  // namespace memprof

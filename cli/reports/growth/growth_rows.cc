#include "cli/reports/growth/growth_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "cli/reports/rows.h"
#include "core/profile/location.h"
#include "core/profile/place_growth.h"

namespace memprof {
namespace {

// By how many bytes a site rose between two moments.
int64_t RiseOf(const LiveHistory& history, uint32_t from, uint32_t last) {
  return static_cast<int64_t>(LiveAt(history, last).bytes - LiveAt(history, from).bytes);
}

uint32_t LeafThatGrewMost(const std::vector<ProfileSite>& all, std::span<const uint32_t> sites,
                          uint32_t from, uint32_t last) {
  uint32_t leaf = 0;
  int64_t most = 0;
  for (const uint32_t index : sites) {
    const ProfileSite& site = all[index];
    const int64_t grew = RiseOf(site.history, from, last);
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

// An allocator asks for memory by large steps, malloc of glibc by 132 KiB for each of its arenas, and pages
// become resident one by one as they are first used: that looks like a rise, and isn't one.
constexpr double kStepsOfRss = 1 << 20;

std::optional<Growth> JudgeBesideHeap(const Profile& profile, const GrowthWindow& window) {
  if (window.from == window.to) return std::nullopt;
  const uint64_t from_ms = window.Times().front(), until_ms = window.Times().back();
  std::vector<uint64_t> times, bytes;
  uint64_t most = 0;
  const auto& points = profile.timeline.points;
  // At most as many points as there are moments: the judge was calibrated with that many.
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
  options.floor_bytes = std::max(GrowthFloor(most), kStepsOfRss);
  return JudgeGrowth(times, bytes, options);
}

// The last moment at which any figure changed, if it is long ago.
std::optional<uint64_t> LoadEndOf(const Profile& profile, const GrowthWindow& window) {
  constexpr size_t kFewest = 4;  // moments
  const size_t moments = window.to - window.from;
  size_t last = window.from;
  const auto look = [&](const LiveHistory& history) {
    for (auto change = history.rbegin(); change != history.rend(); ++change) {
      if (change->moment >= window.to) continue;
      last = std::max<size_t>(last, change->moment);
      break;
    }
  };
  for (const ProfileSite& site : profile.sites) look(site.history);
  for (const SnapshotMapping& row : profile.mappings.rows) look(row.history);
  if (last == window.from || window.to - 1 - last < std::max(kFewest, moments / 8)) {
    return std::nullopt;
  }
  return window.times_ms[last];
}

void JudgeMapped(const Profile& profile, const GrowthWindow& window, GrowthReport& report) {
  const std::vector<ProfileSite> mappings = MappingsAsSites(profile);
  const bool known = std::any_of(mappings.begin(), mappings.end(), [](const ProfileSite& mapping) {
    return !mapping.history.empty();
  });
  if (!known || window.from == window.to) return;
  const auto last = static_cast<uint32_t>(window.to - 1);
  std::vector<uint32_t> indices(mappings.size());
  std::iota(indices.begin(), indices.end(), 0u);
  const std::vector<std::vector<uint32_t>> places = PlacesOf(profile, mappings, indices);
  const PlaceJudge judge(profile, mappings, window);
  const std::vector<PlaceGrowth> growths = judge.Judge(places);
  GrowthOptions options;
  options.floor_bytes = judge.floor_bytes();
  report.mapped = JudgeGrowth(window.Times(), judge.program(), options);
  const auto judged_from = static_cast<uint32_t>(window.from + report.mapped->warm_up);
  for (size_t i = 0; i < places.size(); ++i) {
    PlaceKey key = PlaceKeyOf(profile, LocationOf(profile, mappings[places[i][0]]));
    GrowthRow row;
    row.mapped = true;
    row.function = std::move(key.function);
    row.file = std::move(key.file);
    row.line = key.line;
    row.module = std::move(key.module);
    row.growth = growths[i].growth;
    row.stacks = static_cast<uint32_t>(places[i].size());
    for (const uint32_t site : places[i]) {
      row.live += LiveAt(mappings[site].history, last);
      row.rise_bytes += RiseOf(mappings[site].history, judged_from, last);
    }
    if (row.growth.verdict == GrowthVerdict::kGrows) {
      row.growing_stacks = static_cast<uint32_t>(growths[i].sites.size());
      for (const uint32_t site : growths[i].sites) {
        row.growing_live += LiveAt(mappings[site].history, last);
      }
    }
    row.heaviest_node = LeafThatGrewMost(
        mappings, growths[i].sites, static_cast<uint32_t>(window.from + row.growth.warm_up), last);
    report.mapped_live += row.live;
    report.mapped_rows.push_back(std::move(row));
  }
  std::sort(report.mapped_rows.begin(), report.mapped_rows.end(), Before);
}

}  // namespace

GrowthReport MakeGrowthReport(const Profile& profile, uint64_t since_ms) {
  const GrowthWindow window = WindowOf(profile, since_ms);
  const std::span<const uint64_t> times = window.Times();
  GrowthReport report;
  report.moments = times.size();
  report.interval_ms = profile.moments.interval_ms;
  if (!times.empty()) {
    report.from_ms = times.front();
    report.until_ms = times.back();
    report.load_ended_ms = LoadEndOf(profile, window);
  }

  const PlaceJudge judge(profile, window);
  report.floor_bytes = judge.floor_bytes();
  const std::vector<LocationRow> places = LocationRows(profile, {});
  std::vector<std::vector<uint32_t>> sites;
  for (const LocationRow& place : places) sites.push_back(place.sites);
  const std::vector<PlaceGrowth> growths = judge.Judge(sites);

  const auto live_at_end = [&](uint32_t site) {
    if (times.empty()) return Count();
    return LiveAt(profile.sites[site].history, static_cast<uint32_t>(window.to - 1));
  };
  Variance variance;
  for (size_t i = 0; i < places.size(); ++i) {
    const LocationRow& place = places[i];
    GrowthRow row;
    row.function = place.function;
    row.file = place.file;
    row.line = place.line;
    row.module = place.module;
    row.stacks = place.stacks;
    Variance of_row;
    for (const uint32_t site : place.sites) {
      const Count live = live_at_end(site);
      row.live += live;
      of_row += VarianceOf(live, profile.tracker.sample_bytes);
    }
    variance += of_row;
    row.error_bytes = StandardError(of_row).bytes;
    row.growth = growths[i].growth;
    if (row.growth.verdict == GrowthVerdict::kGrows) {
      row.growing_stacks = static_cast<uint32_t>(growths[i].sites.size());
      for (const uint32_t site : growths[i].sites) row.growing_live += live_at_end(site);
    }
    if (place.function != kRuntimeRow && !times.empty()) {
      row.heaviest_node = LeafThatGrewMost(profile.sites, growths[i].sites,
                                           static_cast<uint32_t>(window.from + row.growth.warm_up),
                                           static_cast<uint32_t>(window.to - 1));
    }
    report.live += row.live;
    report.rows.push_back(std::move(row));
  }
  GrowthOptions options;
  options.floor_bytes = report.floor_bytes;
  options.standard_error_bytes = static_cast<double>(StandardError(variance).bytes);
  report.program = JudgeGrowth(times, judge.program(), options);
  if (!times.empty()) {
    const auto judged_from = static_cast<uint32_t>(window.from + report.program.warm_up);
    for (size_t i = 0; i < places.size(); ++i) {
      for (const uint32_t site : places[i].sites) {
        report.rows[i].rise_bytes +=
            RiseOf(profile.sites[site].history, judged_from, static_cast<uint32_t>(window.to - 1));
      }
    }
  }
  std::sort(report.rows.begin(), report.rows.end(), Before);
  JudgeMapped(profile, window, report);
  report.beside_heap = JudgeBesideHeap(profile, window);
  return report;
}

GrowthRate RateOf(const Growth& growth) {
  return {growth.bytes_per_hour,
          std::max(growth.high - growth.bytes_per_hour, growth.bytes_per_hour - growth.low), 1};
}

GrowthRate SumOfGrowing(const std::vector<GrowthRow>& rows) {
  GrowthRate sum;
  for (const GrowthRow& row : rows) {
    if (row.growth.verdict != GrowthVerdict::kGrows) continue;
    const GrowthRate rate = RateOf(row.growth);
    sum.bytes_per_hour += rate.bytes_per_hour;
    sum.error = std::hypot(sum.error, rate.error);
    ++sum.places;
  }
  return sum;
}

std::vector<const GrowthRow*> RowsThatRose(const std::vector<GrowthRow>& rows, const Growth& sum) {
  std::vector<const GrowthRow*> rose;
  if (sum.verdict != GrowthVerdict::kGrows || SumOfGrowing(rows).places != 0) return rose;
  for (const GrowthRow& row : rows) {
    if (row.rise_bytes > 0) rose.push_back(&row);
  }
  std::stable_sort(rose.begin(), rose.end(), [](const GrowthRow* a, const GrowthRow* b) {
    return a->rise_bytes > b->rise_bytes;
  });
  return rose;
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

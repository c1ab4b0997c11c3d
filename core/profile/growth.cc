#include "core/profile/growth.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/profile/trend.h"

namespace memprof {
namespace {

using Values = std::span<const double>;

constexpr double kMsPerHour = 3600e3;
// A warm-up is worth a word from these shares of the series on.
constexpr size_t kStartupShare = 16;
constexpr size_t kLongStartupShare = 8;
// The later half's slope is to be compared with this part of the earlier one's.
constexpr double kSlowing = 0.5;
constexpr double kSlightlySlowing = 0.8;
// A warm-up must leave a line that fits so much better than that through all.
constexpr double kWorthWarmUp = 0.6;
// By this many standard errors for what is said for sure.
constexpr double kClear = 1;
// By so few that it is likelier than not.
constexpr double kUnclear = 0.3;
// The floor's rise must be at least this part of the trend's.
constexpr double kFloorShare = 0.5;
// What is estimated must rise by so many standard errors of that rise.
constexpr double kErrors = 3;
// Whoever may rise, but not surely.
constexpr double kHint = 0.01;

// The least squares line through a part of the series, in time that doesn't depend on its length.
class LineSums {
 public:
  LineSums(Values times, Values values) : sums_(times.size() + 1) {
    for (size_t i = 0; i < times.size(); ++i) {
      const double t = times[i], v = values[i];
      const std::array<double, 6> of_one = {1, t, v, t * t, t * v, v * v};
      for (size_t k = 0; k < of_one.size(); ++k) sums_[i + 1][k] = sums_[i][k] + of_one[k];
    }
  }

  // What the line leaves of the part's squares; the slope.
  struct Line {
    double residual, slope;
  };
  Line Of(size_t from, size_t to) const {
    std::array<double, 6> s;
    for (size_t k = 0; k < s.size(); ++k) s[k] = sums_[to][k] - sums_[from][k];
    const double tt = s[3] - s[1] * s[1] / s[0];
    const double tv = s[4] - s[1] * s[2] / s[0];
    const double vv = s[5] - s[2] * s[2] / s[0];
    if (tt <= 0) return {std::max(vv, 0.0), 0};
    return {std::max(vv - tv * tv / tt, 0.0), tv / tt};
  }

 private:
  std::vector<std::array<double, 6>> sums_;
};

double MedianOf(Values values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

// Medians of five neighbours: without what lasts two moments.
std::vector<double> Smooth(Values values) {
  std::vector<double> smooth;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t from = i >= 2 ? i - 2 : 0;
    smooth.push_back(MedianOf(values.subspan(from, std::min(i + 3, values.size()) - from)));
  }
  return smooth;
}

size_t WarmUpOf(Values times, Values values) {
  const size_t n = values.size();
  const std::vector<double> smooth = Smooth(values);
  const LineSums lines(times, smooth);
  const auto [least, most] = std::minmax_element(smooth.begin(), smooth.end());
  // What rounding leaves, and what is too small to be the reason for a warm-up.
  const double slight = std::pow((*most - *least) / 200, 2);
  size_t best = 0;
  double best_error = 0;
  for (size_t from = 0; from <= n * 3 / 4 && n - from >= kFewestGrowthMoments / 2; ++from) {
    const LineSums::Line rest = lines.Of(from, n);
    if (from > n / 2 && rest.slope <= lines.Of(0, from).slope) continue;
    const auto left = static_cast<double>(n - from);
    const double error = (rest.residual + slight * left) / (left * left);
    if (from == 0) best_error = error * kWorthWarmUp;
    if (from != 0 && error < best_error) {
      best = from;
      best_error = error;
    }
  }
  return best;
}

double MostOf(Values values) { return *std::max_element(values.begin(), values.end()); }
double LeastOf(Values values) { return *std::min_element(values.begin(), values.end()); }

// How the lowest of the last third compares with that of the first, as a part of what a rise by
// `rise` over the whole makes of it.
double FloorShare(Values values, double rise) {
  const size_t third = values.size() / 3;
  const double first = LeastOf(values.first(third));
  const double second = LeastOf(values.subspan(third, values.size() - 2 * third));
  const double last = LeastOf(values.last(third));
  if (second < first && last < second) return 0;
  return (last - first) / (rise * 2 / 3);
}

// Whether the later half rises by more than this part of the earlier one: above 0, in standard
// errors of the answer.
double GoesOn(const Trend& earlier, const Trend& later, double part) {
  // The intervals' half widths are two standard errors.
  const double error =
      std::hypot((later.high - later.low) / 4, part * (earlier.high - earlier.low) / 4);
  const double difference = later.slope - part * earlier.slope;
  if (error <= 0) return difference > 0 ? 2 * kClear : -2 * kClear;
  return difference / error;
}

// The standard error of how much an estimate rose, by that of its last value. What only comes has
// the error of what came; of what comes and goes, the samples of both ends may be others. The later
// half is to show it by itself: a cache's rise is of its beginning, and its samples wander.
double ErrorOfRise(Values values, double standard_error) {
  const double rise = values.back() - values.front();
  return standard_error * std::sqrt(HardlyFalls(values) ? rise / values.back() : 2.0);
}

uint64_t HeldFor(std::span<const uint64_t> times_ms, std::span<const uint64_t> live_bytes) {
  size_t since = live_bytes.size() - 1;
  while (since > 0 && live_bytes[since - 1] >= (live_bytes.back() + 1) / 2) --since;
  return times_ms.back() - times_ms[since];
}

}  // namespace

const char* VerdictName(GrowthVerdict verdict) {
  switch (verdict) {
    case GrowthVerdict::kGrows:
      return "grows";
    case GrowthVerdict::kLevelsOff:
      return "levels off";
    case GrowthVerdict::kSteady:
      return "steady";
    case GrowthVerdict::kUndecided:
      break;
  }
  return "undecided";
}

std::vector<uint64_t> LiveBytesOf(const LiveHistory& history, size_t moments) {
  std::vector<uint64_t> bytes(moments, 0);
  for (size_t i = 0; i < history.size(); ++i) {
    const size_t to = i + 1 < history.size() ? history[i + 1].moment : moments;
    for (size_t at = history[i].moment; at < to; ++at) bytes[at] = history[i].live.bytes;
  }
  return bytes;
}

std::vector<uint64_t> TimesOf(const Moments& moments) {
  std::vector<uint64_t> times;
  times.reserve(moments.at.size());
  for (const Moment& moment : moments.at) times.push_back(moment.time_ms);
  return times;
}

double GrowthFloor(uint64_t program_bytes) {
  constexpr double kLeast = 4096;
  constexpr double kShare = 1e-4;
  return std::max(kLeast, kShare * static_cast<double>(program_bytes));
}

bool ExceedsFloor(std::span<const uint64_t> live_bytes, double floor_bytes) {
  if (live_bytes.empty()) return false;
  const auto [least, most] = std::minmax_element(live_bytes.begin(), live_bytes.end());
  return static_cast<double>(*most - *least) >= floor_bytes;
}

Growth JudgeGrowth(std::span<const uint64_t> times_ms, std::span<const uint64_t> live_bytes,
                   const GrowthOptions& options) {
  Growth growth;
  auto verdict = [&](GrowthVerdict of, const char* reason) {
    growth.verdict = of;
    growth.reason = reason;
    return growth;
  };
  const size_t n = live_bytes.size();
  if (n == 0) return verdict(GrowthVerdict::kUndecided, "no moments were kept");
  growth.warm_up_ms = times_ms.front();
  growth.span_ms = times_ms.back() - times_ms.front();
  growth.held_ms = HeldFor(times_ms, live_bytes);
  if (n < kFewestGrowthMoments) {
    return verdict(GrowthVerdict::kUndecided, "too few moments; let it run longer");
  }
  if (!ExceedsFloor(live_bytes, options.floor_bytes)) {
    return verdict(GrowthVerdict::kSteady, "moves by less than the noise floor");
  }

  std::vector<double> hours, bytes;
  for (const uint64_t time : times_ms) hours.push_back(static_cast<double>(time) / kMsPerHour);
  for (const uint64_t live : live_bytes) bytes.push_back(static_cast<double>(live));
  const size_t from = WarmUpOf(hours, bytes);
  const Values rest_hours = Values(hours).subspan(from);
  const Values rest = Values(bytes).subspan(from);
  const double span_hours = rest_hours.back() - rest_hours.front();
  if (span_hours <= 0) return verdict(GrowthVerdict::kUndecided, "no time passed");
  growth.warm_up = from;
  growth.warm_up_ms = times_ms[from];
  growth.span_ms = times_ms.back() - times_ms[from];

  const Trend trend = TrendOf(rest_hours, rest);
  growth.bytes_per_hour = trend.slope;
  const double estimates = 1.96 * options.standard_error_bytes / span_hours;
  growth.has_trend = true;
  growth.low = trend.slope - std::hypot(trend.slope - trend.low, estimates);
  growth.high = trend.slope + std::hypot(trend.high - trend.slope, estimates);
  growth.p_value = trend.p_rises;
  const double rise = trend.slope * span_hours;
  const double level = kGrowthLevel / static_cast<double>(std::max<size_t>(options.judged, 1));
  const double before = MedianOf(Values(bytes).first(3));
  const bool rose = from > n / kStartupShare && MedianOf(rest) - before >= options.floor_bytes &&
                    MedianOf(rest) >= 1.25 * before;

  if (trend.p_rises >= level || rise < options.floor_bytes) {
    if (trend.p_rises < kHint && rise >= options.floor_bytes && !rose) {
      return verdict(GrowthVerdict::kUndecided, "may rise, too little to be sure");
    }
    if (rose) return verdict(GrowthVerdict::kLevelsOff, "filled, and stands still since");
    return verdict(GrowthVerdict::kSteady, trend.slope < 0 ? "doesn't rise" : "no trend");
  }
  const double floor_share = FloorShare(rest, rise);
  if (floor_share <= 0) return verdict(GrowthVerdict::kSteady, "rises and falls back");
  if (floor_share < kFloorShare) {
    return verdict(GrowthVerdict::kUndecided, "rises, but falls back nearly as far");
  }

  if (from > n / kLongStartupShare) {
    const double highest = MostOf(Smooth(Values(bytes).first(from)));
    if (MedianOf(rest.last(5)) - highest < rise / 2) {
      return verdict(GrowthVerdict::kUndecided, "was as high before, and fell back");
    }
  }

  const size_t half = rest.size() / 2;
  const Trend earlier = TrendOf(rest_hours.first(half), rest.first(half));
  const Trend later = TrendOf(rest_hours.subspan(half), rest.subspan(half));
  const double goes_on = GoesOn(earlier, later, kSlowing);
  if (goes_on <= -kClear) {
    return verdict(GrowthVerdict::kLevelsOff, "grows ever more slowly");
  }
  if (goes_on <= -kUnclear) {
    return verdict(GrowthVerdict::kUndecided, "slows down; a longer run would tell");
  }
  const bool unclear = from > n / 4 ? GoesOn(earlier, later, kSlightlySlowing) < kClear
                                    : from > n / kStartupShare && goes_on < kClear;
  if (unclear) {
    const Trend warm_up = TrendOf(Values(hours).first(from), Values(bytes).first(from));
    if (later.slope < kSlowing * warm_up.slope) {
      return verdict(GrowthVerdict::kUndecided, "slows down; a longer run would tell");
    }
  }
  const double later_rise = later.slope * (rest_hours.back() - rest_hours[half]);
  if (later_rise < kErrors * ErrorOfRise(rest.subspan(half), options.standard_error_bytes)) {
    return verdict(GrowthVerdict::kUndecided, "too few samples");
  }
  return verdict(GrowthVerdict::kGrows, "rises steadily");
}

}  // namespace memprof

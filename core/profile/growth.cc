#include "core/profile/growth.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/profile/trend.h"

namespace memprof {
namespace {

using Values = std::span<const double>;

constexpr double kMsPerHour = 3600e3;
// A warm-up counts if it is longer than the series divided by this.
constexpr size_t kStartupShare = 16;
constexpr size_t kLongStartupShare = 8;
// The later half's slope is compared with this part of the earlier one's.
constexpr double kSlowing = 0.5;
constexpr double kSlightlySlowing = 0.8;
// The residual after the warm-up must be at most this part of that of a line through all.
constexpr double kWorthWarmUp = 0.6;
// Statements that are called sure need this many standard errors.
constexpr double kClear = 1;
// And this many if the statement contradicts a trend.
constexpr double kSure = 2.5;
// This many standard errors make a statement likelier than not.
constexpr double kUnclear = 0.3;
// The floor's rise must be at least this part of the trend's.
constexpr double kFloorShare = 0.5;
// The rise of an estimate must be at least this many of its standard errors.
constexpr double kErrors = 3;
// The p value below which a site may rise, but not surely.
constexpr double kHint = 0.01;
// A series that hardly falls has no noise, so this part of the floor is enough, in so many rises.
constexpr double kQuietFloor = 0.5;
constexpr size_t kQuietRises = 8;
// A tear-down leaves less than this part of the least that was live shortly before.
constexpr double kTornDown = 0.5;
// A container that doubles: each step multiplies by at least this, and there are so many of them.
constexpr double kContainerFactor = 1.4;
constexpr size_t kContainerSteps = 4;
constexpr uint64_t kContainerBlocks = 2;
// At a constant rate each wait is the last one times the factor, give or take this much.
constexpr double kWaitSlack = 1.5;
// Fewer blocks that come and go say nothing by their ranks.
constexpr uint64_t kFewBlocks = 8;
// A single step that makes up this part of a rise is judged as no rise.
constexpr double kOneStep = 0.5;
// The lowest values are taken of this many moments each.
constexpr size_t kEnvelope = 5;
constexpr size_t kFewestEnvelope = 12;  // of them

// The least squares line through a part of the series, in a time independent of the part's length.
class LineSums {
 public:
  LineSums(Values times, Values values) : sums_(times.size() + 1) {
    for (size_t i = 0; i < times.size(); ++i) {
      const double t = times[i], v = values[i];
      const std::array<double, 6> of_one = {1, t, v, t * t, t * v, v * v};
      for (size_t k = 0; k < of_one.size(); ++k) sums_[i + 1][k] = sums_[i][k] + of_one[k];
    }
  }

  // The sum of the squared residuals; the slope.
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

// Medians of five neighbours: they remove peaks of at most two moments.
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
  // A residual that rounding explains, or that is too small to be the reason for a warm-up.
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

// The difference between the lowest values of the last and the first third, as a part of the
// difference that a rise by `rise` over the whole predicts.
double FloorShare(Values values, double rise) {
  const size_t third = values.size() / 3;
  const double first = LeastOf(values.first(third));
  const double second = LeastOf(values.subspan(third, values.size() - 2 * third));
  const double last = LeastOf(values.last(third));
  if (second < first && last < second) return 0;
  return (last - first) / (rise * 2 / 3);
}

// Whether the later half rises by more than this part of the earlier one: positive if so, in
// standard errors.
double GoesOn(const Trend& earlier, const Trend& later, double part) {
  // The intervals' half widths are two standard errors.
  const double error =
      std::hypot((later.high - later.low) / 4, part * (earlier.high - earlier.low) / 4);
  const double difference = later.slope - part * earlier.slope;
  if (error <= 0) return difference > 0 ? 2 * kClear : -2 * kClear;
  return difference / error;
}

// The standard error of an estimate's rise, from that of its last value. If blocks only come, it is
// the error of those that came. If blocks come and go, the samples at the two ends may be different
// ones. The later half has to show a rise by itself: a cache rises at its beginning, and its
// samples vary later.
double ErrorOfRise(Values values, double standard_error) {
  const double rise = values.back() - values.front();
  return standard_error * std::sqrt(HardlyFalls(values) ? rise / values.back() : 2.0);
}

// The number of moments to judge: without the last one if it fell into the tear-down.
size_t WithoutTearDown(std::span<const uint64_t> live_bytes) {
  const size_t n = live_bytes.size();
  if (n <= kFewestGrowthMoments) return n;
  const std::span<const uint64_t> before = live_bytes.subspan(n - 1 - n / 8, n / 8);
  const uint64_t least = *std::min_element(before.begin(), before.end());
  const bool torn = static_cast<double>(live_bytes.back()) < kTornDown * static_cast<double>(least);
  return torn ? n - 1 : n;
}

size_t NumberOfRises(Values values) {
  size_t rises = 0;
  for (size_t i = 1; i < values.size(); ++i)
    rises += values[i] > values[i - 1] ? size_t{1} : size_t{0};
  return rises;
}

// Whether a container of one block grows by a factor at each step, and goes on to: its steps come
// at the rhythm of elements that are added, not by chance, and the next one isn't overdue.
bool IsGrowingContainer(Values times, Values bytes, std::span<const uint64_t> blocks) {
  if (blocks.empty() || *std::max_element(blocks.begin(), blocks.end()) > kContainerBlocks) {
    return false;
  }
  std::vector<double> steps;
  double factor = 0;
  for (size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[i] < bytes[i - 1]) return false;
    if (bytes[i] == bytes[i - 1] || bytes[i - 1] <= 0) continue;
    factor = bytes[i] / bytes[i - 1];
    if (factor < kContainerFactor) return false;
    steps.push_back(times[i]);
  }
  if (steps.size() < kContainerSteps) return false;
  const size_t last = steps.size() - 1;
  const double interval = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
  const auto in_rhythm = [&](double wait, double before) {
    return wait <= kWaitSlack * factor * before + interval && wait + interval >= before / 2;
  };
  const double wait = steps[last] - steps[last - 1], before = steps[last - 1] - steps[last - 2];
  return in_rhythm(wait, before) && in_rhythm(before, steps[last - 2] - steps[last - 3]) &&
         times.back() - steps[last] <= kWaitSlack * factor * wait + interval;
}

// The series without its largest step, taken over two intervals because a step may take a while.
// Empty: no step makes up that much of the rise.
std::vector<double> WithoutOneStep(Values values) {
  const double rise = MedianOf(values.last(3)) - MedianOf(values.first(3));
  double largest = 0;
  size_t at = 0;
  for (size_t i = 2; i < values.size(); ++i) {
    const double step = values[i] - values[i - 2];
    if (step > largest) {
      largest = step;
      at = i;
    }
  }
  // In noise a step is hard to tell from it.
  if (!HardlyFalls(values) || largest < kOneStep * rise) return {};
  std::vector<double> rest(values.begin(), values.end());
  for (size_t i = at; i < rest.size(); ++i) rest[i] -= largest;
  rest[at - 1] = rest[at - 2];
  return rest;
}

// The standard error of a slope if the steps come by chance, one independent of the other.
double ErrorOfSteps(Values times, Values values) {
  const auto steps = static_cast<double>(values.size() - 1);
  const double mean = (values.back() - values.front()) / steps;
  double square = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    square += std::pow(values[i] - values[i - 1] - mean, 2);
  }
  const double span = times.back() - times.front();
  return span > 0 ? std::sqrt(square) / span : 0;
}

// Whether so few blocks come and go that their ranks are noise. Pre: there are moments.
bool FewBlocks(std::span<const uint64_t> blocks) {
  const auto [fewest, most] = std::minmax_element(blocks.begin(), blocks.end());
  return *most < kFewBlocks && *fewest != *most;
}

// Whether there are as many blocks at the end as after the first quarter, and more than one.
bool SameBlocks(std::span<const uint64_t> blocks) {
  if (blocks.empty()) return false;
  const auto late = blocks.subspan(blocks.size() / 4);
  const auto [fewest, most] = std::minmax_element(late.begin(), late.end());
  return *fewest == *most && *most > kContainerBlocks;
}

// Whether it slows down all through the run, as a logarithm or the number of distinct keys does.
// The first quarter isn't looked at, so that a start of its own doesn't count.
// If no block comes (`same_blocks`), each grows to a size of its own, such as that of the largest
// record. Its steps come by chance and ever more rarely, so that a slope's error is no excuse.
bool SlowsThroughout(Values times, Values values, bool same_blocks) {
  const size_t quarter = values.size() / 4;
  Trend of[3];
  for (size_t k = 0; k < 3; ++k) {
    of[k] = TrendOf(times.subspan((k + 1) * quarter, quarter),
                    values.subspan((k + 1) * quarter, quarter));
  }
  const auto slower = [](const Trend& a, const Trend& b, double part) {
    return b.slope < part * a.slope;
  };
  if (same_blocks) return slower(of[0], of[2], 0.72);
  // Thirds of a curve t^0.7, between that of a leak and that of distinct keys.
  return slower(of[0], of[1], 0.84) && slower(of[1], of[2], 0.90) && slower(of[0], of[2], 0.72) &&
         GoesOn(of[0], of[2], 0.85) <= -kSure &&
         0.85 * of[0].slope - of[2].slope >=
             kSure * std::hypot(0.85 * ErrorOfSteps(times.subspan(quarter, quarter),
                                                    values.subspan(quarter, quarter)),
                                ErrorOfSteps(times.subspan(3 * quarter, quarter),
                                             values.subspan(3 * quarter, quarter)));
}

template <typename Figure>
std::vector<uint64_t> FiguresOf(const LiveHistory& history, size_t moments, Figure figure) {
  std::vector<uint64_t> figures(moments, 0);
  for (size_t i = 0; i < history.size(); ++i) {
    const size_t to = i + 1 < history.size() ? history[i + 1].moment : moments;
    for (size_t at = history[i].moment; at < to; ++at) figures[at] = figure(history[i].live);
  }
  return figures;
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
  return FiguresOf(history, moments, [](const Count& live) { return live.bytes; });
}

std::vector<uint64_t> LiveBlocksOf(const LiveHistory& history, size_t moments) {
  return FiguresOf(history, moments, [](const Count& live) { return live.allocations; });
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

namespace {

// The series' figures as real numbers, and how to judge them.
struct Series {
  std::vector<double> hours, bytes;
  std::span<const uint64_t> times_ms;
  std::span<const uint64_t> blocks;  // live allocations; empty: not known
};

// Judges a series whose length and range suffice. Fills the trend and the warm-up of `growth`.
Growth JudgeShape(const Series& series, const GrowthOptions& options, Growth growth) {
  auto verdict = [&](GrowthVerdict of, const char* reason) {
    growth.verdict = of;
    growth.reason = reason;
    return growth;
  };
  const size_t n = series.bytes.size();
  const Values hours(series.hours), bytes(series.bytes);
  const size_t from = WarmUpOf(hours, bytes);
  const Values rest_hours = hours.subspan(from);
  const Values rest = bytes.subspan(from);
  const double span_hours = rest_hours.back() - rest_hours.front();
  if (span_hours <= 0) return verdict(GrowthVerdict::kUndecided, "no time passed");
  growth.warm_up = from;
  growth.warm_up_ms = series.times_ms[from];
  growth.span_ms = series.times_ms.back() - series.times_ms[from];

  const Trend trend = TrendOf(rest_hours, rest);
  growth.bytes_per_hour = trend.slope;
  const double estimates = 1.96 * options.standard_error_bytes / span_hours;
  growth.has_trend = true;
  growth.low = trend.slope - std::hypot(trend.slope - trend.low, estimates);
  growth.high = trend.slope + std::hypot(trend.high - trend.slope, estimates);
  growth.p_value = trend.p_rises;
  const double rise = trend.slope * span_hours;
  const double level = kGrowthLevel / static_cast<double>(std::max<size_t>(options.judged, 1));
  const double before = MedianOf(bytes.first(3));
  const bool quiet = HardlyFalls(rest) && NumberOfRises(rest) >= kQuietRises;
  const double floor_bytes = options.floor_bytes * (quiet ? kQuietFloor : 1);
  const bool rose = from > n / kStartupShare && MedianOf(rest) - before >= options.floor_bytes &&
                    MedianOf(rest) >= 1.25 * before;

  if (trend.p_rises >= level || rise < floor_bytes) {
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
  if (!HardlyFalls(rest) && !series.blocks.empty() && FewBlocks(series.blocks.subspan(from))) {
    return verdict(GrowthVerdict::kUndecided, "too few blocks to tell it from noise");
  }

  if (from > n / kLongStartupShare) {
    const double highest = MostOf(Smooth(bytes.first(from)));
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
    const Trend warm_up = TrendOf(hours.first(from), bytes.first(from));
    if (later.slope < kSlowing * warm_up.slope) {
      return verdict(GrowthVerdict::kUndecided, "slows down; a longer run would tell");
    }
  }
  if (SlowsThroughout(hours, bytes, SameBlocks(series.blocks))) {
    return verdict(GrowthVerdict::kUndecided, "slows down all through the run");
  }
  const double later_rise = later.slope * (rest_hours.back() - rest_hours[half]);
  if (later_rise < kErrors * ErrorOfRise(rest.subspan(half), options.standard_error_bytes)) {
    return verdict(GrowthVerdict::kUndecided, "too few samples");
  }
  return verdict(GrowthVerdict::kGrows, "rises steadily");
}

// The lowest of each few moments. A swing shows what it never gives back.
Series EnvelopeOf(const Series& series) {
  Series lowest;
  // The last group ends with the last moment.
  size_t at = series.bytes.size() % kEnvelope;
  for (; at + kEnvelope <= series.bytes.size(); at += kEnvelope) {
    lowest.hours.push_back(series.hours[at + kEnvelope / 2]);
    lowest.bytes.push_back(LeastOf(Values(series.bytes).subspan(at, kEnvelope)));
  }
  return lowest;
}

}  // namespace

Growth JudgeGrowth(std::span<const uint64_t> times_ms, std::span<const uint64_t> live_bytes,
                   const GrowthOptions& options, std::span<const uint64_t> live_blocks) {
  Growth growth;
  auto verdict = [&](GrowthVerdict of, const char* reason) {
    growth.verdict = of;
    growth.reason = reason;
    return growth;
  };
  if (live_bytes.empty()) return verdict(GrowthVerdict::kUndecided, "no moments were kept");
  const size_t n = WithoutTearDown(live_bytes);
  times_ms = times_ms.first(n);
  live_bytes = live_bytes.first(n);
  if (!live_blocks.empty()) live_blocks = live_blocks.first(n);
  growth.warm_up_ms = times_ms.front();
  growth.span_ms = times_ms.back() - times_ms.front();
  growth.held_ms = HeldFor(times_ms, live_bytes);
  if (n < kFewestGrowthMoments) {
    return verdict(GrowthVerdict::kUndecided, "too few moments; let it run longer");
  }
  if (!ExceedsFloor(live_bytes, kQuietFloor * options.floor_bytes)) {
    return verdict(GrowthVerdict::kSteady, "moves by less than the noise floor");
  }

  Series series;
  series.times_ms = times_ms;
  series.blocks = live_blocks;
  for (const uint64_t time : times_ms) {
    series.hours.push_back(static_cast<double>(time) / kMsPerHour);
  }
  for (const uint64_t live : live_bytes) series.bytes.push_back(static_cast<double>(live));
  growth = JudgeShape(series, options, growth);

  const Values hours(series.hours), bytes(series.bytes);
  const bool moves = ExceedsFloor(live_bytes, options.floor_bytes);
  if (moves && IsGrowingContainer(hours, bytes, live_blocks)) {
    const Trend trend = TrendOf(hours, bytes);
    growth.warm_up = 0;
    growth.warm_up_ms = times_ms.front();
    growth.span_ms = times_ms.back() - times_ms.front();
    growth.bytes_per_hour = trend.slope;
    growth.low = trend.low;
    growth.high = trend.high;
    growth.p_value = trend.p_rises;
    return verdict(GrowthVerdict::kGrows, "a container that grows by a factor at each step");
  }
  if (growth.verdict != GrowthVerdict::kGrows) {
    // The floor of a swing. A cache's floor fills as the cache does, and is judged as one.
    if (moves && growth.verdict != GrowthVerdict::kLevelsOff && !HardlyFalls(bytes) &&
        (live_blocks.empty() || !FewBlocks(live_blocks)) && options.standard_error_bytes == 0 &&
        n >= kFewestEnvelope * kEnvelope) {
      Series lowest = EnvelopeOf(series);
      std::vector<uint64_t> times;
      for (const double hour : lowest.hours) {
        times.push_back(static_cast<uint64_t>(hour * kMsPerHour));
      }
      lowest.times_ms = times;
      const Growth of_floor = JudgeShape(lowest, options, growth);
      if (of_floor.verdict == GrowthVerdict::kGrows &&
          HardlyFalls(Values(lowest.bytes).subspan(of_floor.warm_up))) {
        const size_t warm_up = of_floor.warm_up * kEnvelope;
        growth = of_floor;
        growth.warm_up = warm_up;
        growth.reason = "swings, and its floor rises steadily";
      }
    }
    return growth;
  }
  // A trend that is one step and little else isn't one.
  const std::vector<double> less = WithoutOneStep(bytes.subspan(growth.warm_up));
  if (less.empty()) return growth;
  Series rest = {{hours.begin() + static_cast<std::ptrdiff_t>(growth.warm_up), hours.end()},
                 less,
                 times_ms.subspan(growth.warm_up),
                 {}};
  if (rest.bytes.size() < 5) return growth;
  const Growth without = JudgeShape(rest, options, growth);
  if (without.verdict == GrowthVerdict::kGrows) return growth;
  return verdict(GrowthVerdict::kUndecided, "one step, and little before and after it");
}

}  // namespace memprof

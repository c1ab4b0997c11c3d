#include "core/profile/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace memprof {
namespace {

// The k-th smallest value; k is clamped to the ends.
double Nth(std::vector<double>& values, double k) {
  const double last = static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::clamp(k, 0.0, last));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

// The residuals of values at even times from the nearest parabola (least squares).
std::vector<double> BesideParabola(std::span<const double> values) {
  const size_t n = values.size();
  const auto m = static_cast<double>(n);
  // Polynomials in x that are orthogonal over the values' places: 1, x, x² − q.
  const double q = (m * m - 1) / 12;
  double sum0 = 0, sum1 = 0, sum2 = 0, square1 = 0, square2 = 0;
  for (size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - (m - 1) / 2, y = x * x - q;
    sum0 += values[i];
    sum1 += values[i] * x;
    sum2 += values[i] * y;
    square1 += x * x;
    square2 += y * y;
  }
  std::vector<double> rest(n);
  for (size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - (m - 1) / 2, y = x * x - q;
    rest[i] = values[i] - sum0 / m - sum1 / square1 * x - (square2 > 0 ? sum2 / square2 * y : 0);
  }
  return rest;
}

// The residuals of a second fit, for which outliers are pulled in so that bursts don't bend the
// parabola.
std::vector<double> BesideTrend(std::span<const double> values) {
  constexpr double kFar = 3;
  std::vector<double> rest = BesideParabola(values);
  std::vector<double> sizes;
  for (const double r : rest) sizes.push_back(std::abs(r));
  const double far = kFar * Nth(sizes, static_cast<double>(sizes.size() / 2));
  std::vector<double> pulled(values.begin(), values.end());
  for (size_t i = 0; i < rest.size(); ++i) pulled[i] -= rest[i] - std::clamp(rest[i], -far, far);
  const std::vector<double> again = BesideParabola(pulled);
  for (size_t i = 0; i < rest.size(); ++i) rest[i] = values[i] - (pulled[i] - again[i]);
  return rest;
}

// Equal values share the mean of their ranks.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t from = 0; from < order.size();) {
    size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (size_t i = from; i < to; ++i) ranks[order[i]] = static_cast<double>(from + to - 1) / 2;
    from = to;
  }
  return ranks;
}

// The ratio of the variance of S to that of independent values; at least 1.
double AutocorrelationFactor(std::span<const double> values) {
  const size_t n = values.size();
  // There is no noise that could be correlated, only a shape.
  if (HardlyFalls(values)) return 1;
  std::vector<double> ranks = Ranks(BesideTrend(values));
  const double mean = static_cast<double>(n - 1) / 2;
  double square = 0;
  for (double& rank : ranks) {
    rank -= mean;
    square += rank * rank;
  }
  if (square <= 0) return 1;
  const double significant = 1.96 / std::sqrt(static_cast<double>(n));
  double sum = 0;
  for (size_t lag = 1; lag + 2 < n; ++lag) {
    double product = 0;
    for (size_t i = 0; i + lag < n; ++i) product += ranks[i] * ranks[i + lag];
    const double r = product / square;
    const auto left = static_cast<double>(n - lag);
    if (r < significant) break;
    sum += left * (left - 1) * (left - 2) * r;
  }
  const auto all = static_cast<double>(n);
  return std::max(1.0, 1 + 2 * sum / (all * (all - 1) * (all - 2)));
}

double TieTerm(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (size_t from = 0; from < sorted.size();) {
    size_t to = from;
    while (to < sorted.size() && sorted[to] == sorted[from]) ++to;
    const auto ties = static_cast<double>(to - from);
    sum += ties * (ties - 1) * (2 * ties + 5);
    from = to;
  }
  return sum;
}

}  // namespace

bool HardlyFalls(std::span<const double> values) {
  constexpr double kHardlyFalls = 0.1;
  double falls = 0;
  for (size_t i = 1; i < values.size(); ++i) falls += std::max(values[i - 1] - values[i], 0.0);
  return falls < kHardlyFalls * (values.back() - values.front());
}

Trend TrendOf(std::span<const double> times, std::span<const double> values, double confidence) {
  Trend trend;
  const size_t n = values.size();
  if (n < 3) return trend;
  std::vector<double> slopes;
  slopes.reserve(n * (n - 1) / 2);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      // Equal times come from a damaged capture.
      if (times[j] > times[i]) slopes.push_back((values[j] - values[i]) / (times[j] - times[i]));
      trend.s += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  if (slopes.empty()) return {};
  const auto m = static_cast<double>(n);
  trend.variance =
      (m * (m - 1) * (2 * m + 5) - TieTerm(values)) / 18 * AutocorrelationFactor(values);
  const auto pairs = static_cast<double>(slopes.size());
  const double reach = confidence * std::sqrt(trend.variance);
  trend.slope = (Nth(slopes, std::floor((pairs - 1) / 2)) + Nth(slopes, std::floor(pairs / 2))) / 2;
  trend.low = Nth(slopes, std::floor((pairs - reach) / 2));
  trend.high = Nth(slopes, std::ceil((pairs + reach) / 2));
  if (trend.variance > 0) {
    // With the correction for continuity.
    const double z = (trend.s - (trend.s > 0   ? 1
                                 : trend.s < 0 ? -1
                                               : 0)) /
                     std::sqrt(trend.variance);
    trend.p_rises = std::erfc(z / std::sqrt(2.0)) / 2;
  }
  return trend;
}

}  // namespace memprof

// Trend: whether a series rises, and how fast, told by ranks, so that no shape of the noise is
// assumed and a few wild values change nothing.
//
//   slope   the median of the slopes of all pairs, with its confidence interval (Theil 1950; Sen
//           1968): up to 29 % of the values may be anything
//   rise    S, the pairs that rise less those that fall, with ties (Mann 1945; Kendall 1975). What
//           is live now is much like what was live just before, which makes S wider than that of
//           independent values: its variance is corrected by the autocorrelation of the ranks of
//           what is left beside the trend (Hamed & Rao 1998), here a parabola, since growth may
//           bend; lags are summed up to the first that says nothing, as those beyond are noise
//           (Geyer 1992). What hardly ever falls has no noise: nothing is corrected.
//
// Thread safety: pure. Cost: n² log n of n values.
#pragma once

#include <span>

namespace memprof {

struct Trend {
  double slope = 0;  // of values by unit of time
  double low = 0;    // confidence interval of the slope
  double high = 0;
  double s = 0;         // Kendall's
  double variance = 0;  // of s
  double p_rises = 1;   // one-sided: of an s as high as this one if there is no trend
};

// Pre: as many times as values, times ascend. Fewer than 3 values have no trend. `confidence` of
// the interval in standard deviations of the normal distribution.
Trend TrendOf(std::span<const double> times, std::span<const double> values,
              double confidence = 1.96);

// Whether the values fall, in all their steps, by less than a tenth of what they rise by from the
// first to the last: what only comes. Pre: there are some.
bool HardlyFalls(std::span<const double> values);

}  // namespace memprof

// Trend: whether a series rises, and how fast. It uses ranks, so that it assumes no shape of the
// noise, and a few wild values change nothing.
//
//   slope   the median of the slopes of all pairs, with its confidence interval (Theil 1950; Sen
//           1968). Up to 29 % of the values may be anything.
//   rise    S, the number of pairs that rise less those that fall, with ties (Mann 1945; Kendall
//           1975). Live bytes resemble what was live just before, so S varies more than that of
//           independent values. Its variance is therefore corrected by the autocorrelation of the
//           ranks of the residuals (Hamed & Rao 1998). Here the trend is a parabola, since growth
//           may bend. Lags are summed up to the first insignificant one: those beyond are noise
//           (Geyer 1992). A series that hardly ever falls has no noise and isn't corrected.
//
// Thread safety: pure. Cost: n² log n for n values.
#pragma once

#include <span>

namespace memprof {

struct Trend {
  double slope = 0;  // in units of the values per unit of time
  double low = 0;    // confidence interval of the slope
  double high = 0;
  double s = 0;         // Kendall's S
  double variance = 0;  // of S
  double p_rises = 1;   // one-sided: how likely S is this high if there is no trend
};

// Pre: as many times as values; the times ascend. Fewer than 3 values have no trend. `confidence`
// is the interval's half width in standard deviations of the normal distribution.
Trend TrendOf(std::span<const double> times, std::span<const double> values,
              double confidence = 1.96);

// True if all falling steps together are less than a tenth of the rise from the first value to the
// last. Pre: there are values.
bool HardlyFalls(std::span<const double> values);

}  // namespace memprof

// UniformSeries: samples over time, as many for a second as for a year. There is at most one sample
// in each interval. When there are too many, the interval doubles and every second sample is
// dropped.
//
//   interval 4    0   4   8   12  16
//   interval 8    0       8       16
//
// Intervals begin at multiples of their length, so that the samples stay uniform however often it
// doubled. The newest sample is always kept, even if it shares an interval with the one before it;
// the next one then replaces it.
//
// Thread safety: none. Sample: a value with `uint64_t time_ms`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memprof {

template <typename Sample>
class UniformSeries {
 public:
  // Pre: interval_ms > 0, most >= 2.
  UniformSeries(uint64_t interval_ms, size_t most) : interval_ms_(interval_ms), most_(most) {}

  uint64_t interval_ms() const { return interval_ms_; }
  // By ascending time; at most `most`.
  const std::vector<Sample>& samples() const { return samples_; }

  // When the next interval begins.
  uint64_t NextDueMs() const {
    return samples_.empty() ? interval_ms_ : (IntervalOf(samples_.back()) + 1) * interval_ms_;
  }

  // Pre: no earlier than the newest.
  void Add(Sample sample) {
    const size_t n = samples_.size();
    const bool newest_is_extra =
        n >= 2 && IntervalOf(samples_[n - 1]) == IntervalOf(samples_[n - 2]);
    if (newest_is_extra || (n >= 1 && samples_[n - 1].time_ms == sample.time_ms)) {
      samples_.pop_back();
    }
    samples_.push_back(std::move(sample));
    while (samples_.size() > most_) Coarsen();
  }

  // `change(sample)` must not change the time.
  template <typename Change>
  void ForEach(Change change) {
    for (Sample& sample : samples_) change(sample);
  }

  // Doubles the interval.
  void Coarsen() {
    interval_ms_ *= 2;
    size_t kept = 0;
    for (size_t i = 0; i < samples_.size(); ++i) {
      const bool first = kept == 0 || IntervalOf(samples_[i]) != IntervalOf(samples_[kept - 1]);
      if (!first && i + 1 < samples_.size()) continue;
      if (kept != i) samples_[kept] = std::move(samples_[i]);
      ++kept;
    }
    samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(kept), samples_.end());
  }

 private:
  uint64_t IntervalOf(const Sample& sample) const { return sample.time_ms / interval_ms_; }

  uint64_t interval_ms_;
  size_t most_;
  std::vector<Sample> samples_;
};

}  // namespace memprof

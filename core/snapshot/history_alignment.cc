#include "core/snapshot/history_alignment.h"

#include <algorithm>
#include <bit>

namespace memprof {
namespace {

constexpr uint64_t kLongestInterval = uint64_t{1} << 62;

uint64_t LastMsOf(uint64_t interval, uint64_t interval_ms) {
  return (interval + 1) * interval_ms - 1;
}

size_t IntervalsUpTo(uint64_t last_ms, uint64_t interval_ms) {
  return static_cast<size_t>(last_ms / interval_ms) + 1;
}

// The longer one plus the shorter one, whose last sample is repeated.
template <typename Sample, typename Add>
std::vector<Sample> SumOfSamples(const std::vector<Sample>& a, const std::vector<Sample>& b,
                                 Add add) {
  if (a.size() < b.size()) return SumOfSamples(b, a, add);
  std::vector<Sample> sum = a;
  for (size_t i = 0; i < sum.size() && !b.empty(); ++i) add(sum[i], b[std::min(i, b.size() - 1)]);
  return sum;
}

}  // namespace

uint64_t AlignedInterval(uint64_t interval_ms, uint64_t last_ms, size_t most) {
  uint64_t aligned =
      interval_ms >= kLongestInterval ? kLongestInterval : std::bit_ceil(interval_ms);
  while (last_ms / aligned >= most) aligned *= 2;
  return aligned;
}

Timeline Align(const Timeline& timeline, uint64_t interval_ms) {
  Timeline aligned;
  if (timeline.points.empty()) return aligned;
  aligned.interval_ms = interval_ms;
  aligned.points.resize(IntervalsUpTo(timeline.points.back().time_ms, interval_ms));
  TimelinePoint last;
  auto next = timeline.points.begin();
  for (size_t i = 0; i < aligned.points.size(); ++i) {
    const uint64_t end = LastMsOf(i, interval_ms);
    for (; next != timeline.points.end() && next->time_ms <= end; ++next) {
      last.heap_bytes = next->heap_bytes;
      if (next->rss_bytes) last.rss_bytes = next->rss_bytes;
    }
    last.time_ms = end;
    aligned.points[i] = last;
  }
  return aligned;
}

Timeline SumOf(const Timeline& a, const Timeline& b) {
  return {std::max(a.interval_ms, b.interval_ms),
          SumOfSamples(a.points, b.points, [](TimelinePoint& sum, const TimelinePoint& more) {
            sum.heap_bytes += more.heap_bytes;
            if (more.rss_bytes) sum.rss_bytes = sum.rss_bytes.value_or(0) + *more.rss_bytes;
          })};
}

AlignedMoments Align(const Moments& moments, uint64_t interval_ms) {
  AlignedMoments aligned;
  if (moments.at.empty()) return aligned;
  aligned.moments.interval_ms = interval_ms;
  aligned.moments.at.resize(IntervalsUpTo(moments.at.back().time_ms, interval_ms));
  bool inexact = false;
  auto next = moments.at.begin();
  for (size_t i = 0; i < aligned.moments.at.size(); ++i) {
    const uint64_t end = LastMsOf(i, interval_ms);
    for (; next != moments.at.end() && next->time_ms <= end; ++next) {
      inexact = next->inexact;
      aligned.moved.push_back(static_cast<uint32_t>(i));
    }
    aligned.moments.at[i] = {end, inexact};
  }
  return aligned;
}

Moments SumOf(const Moments& a, const Moments& b) {
  return {std::max(a.interval_ms, b.interval_ms),
          SumOfSamples(a.at, b.at, [](Moment& sum, const Moment& more) {
            sum.inexact = sum.inexact || more.inexact;
          })};
}

LiveHistory Moved(const LiveHistory& history, const std::vector<uint32_t>& moved) {
  LiveHistory result;
  for (const LiveChange& change : history) {
    AddChange(result, moved[change.moment], change.live);
  }
  return result;
}

}  // namespace memprof

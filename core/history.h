// What a program's heap was over time: the timeline of the whole, and what was live of each site at
// moments that are uniform in time. Both are taken by the supervisor, from outside; without one
// there are none.
//
// A site's history is kept as its changes, so that what stands still costs nothing:
//
//   moments    0    1    2    3
//   live       0  100  100   40        history {1, 100}, {3, 40}
//
// Invariant of a LiveHistory: moments ascend, and no change repeats what was live before it (at
// first: nothing). Units: bytes are requested bytes, times milliseconds after the program's start.
// Thread safety: plain values, pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/count.h"

namespace memprof {

// Upper bounds of what is taken, and of what a capture may have.
inline constexpr size_t kMaxTimelinePoints = 512;
inline constexpr size_t kMaxMoments = 128;
inline constexpr size_t kMaxLiveChanges = size_t{8} << 20;  // of all sites together

struct TimelinePoint {
  uint64_t time_ms = 0;
  uint64_t heap_bytes = 0;            // live
  std::optional<uint64_t> rss_bytes;  // none: not known, the process was gone
  friend bool operator==(const TimelinePoint&, const TimelinePoint&) = default;
};

// At most one point an interval, but the last: that one is the newest, whenever that was. The times
// ascend.
struct Timeline {
  uint64_t interval_ms = 0;
  std::vector<TimelinePoint> points;
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

struct Moment {
  uint64_t time_ms = 0;
  bool inexact =
      false;  // events raced the reading: each site's figure is that of some instant of it
  friend bool operator==(const Moment&, const Moment&) = default;
};

// As Timeline's points.
struct Moments {
  uint64_t interval_ms = 0;
  std::vector<Moment> at;
  friend bool operator==(const Moments&, const Moments&) = default;
};

struct LiveChange {
  uint32_t moment = 0;  // index
  Count live;           // from this moment on, until the next change
  friend bool operator==(const LiveChange&, const LiveChange&) = default;
};
using LiveHistory = std::vector<LiveChange>;

Count LiveAt(const LiveHistory& history, uint32_t moment);

// What was live of the two together.
LiveHistory SumOf(const LiveHistory& a, const LiveHistory& b);

// The history at every second of `moments` only: 0, 2, 4, …, which are then 0, 1, 2, ….
LiveHistory EverySecond(const LiveHistory& history, size_t moments);

}  // namespace memprof

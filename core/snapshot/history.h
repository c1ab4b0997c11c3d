// What a program's heap was over time: the timeline of the whole, and what was live of each site at
// moments that are uniform in time, and at the named ones. All are taken by the supervisor, from
// outside; without one there are none.
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
#include <string>
#include <string_view>
#include <vector>

#include "core/count.h"

namespace memprof {

// Upper bounds of what is taken, and of what a capture may have.
inline constexpr size_t kMaxTimelinePoints = 512;
inline constexpr size_t kMaxMoments = 128;
inline constexpr size_t kMaxNamedSnapshots = 64;
inline constexpr size_t kMaxSnapshotNameBytes = 64;
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

// A snapshot that somebody asked for: what was live then, never thinned.
struct NamedSnapshot {
  std::string name;  // IsSnapshotName
  uint64_t time_ms = 0;
  bool inexact = false;  // as Moment's
  friend bool operator==(const NamedSnapshot&, const NamedSnapshot&) = default;
};

// By ascending time, those of one time by name; no name twice.
struct NamedSnapshots {
  std::vector<NamedSnapshot> taken;  // at most kMaxNamedSnapshots
  uint64_t left_out = 0;             // others that were taken and are not kept
  bool empty() const { return taken.empty() && left_out == 0; }
  friend bool operator==(const NamedSnapshots&, const NamedSnapshots&) = default;
};

// 1 to kMaxSnapshotNameBytes bytes, no control character, no '/' and no '@': what can follow the
// '@' of FILE@NAME.
bool IsSnapshotName(std::string_view name);

// The name that comes nearest to what somebody wrote, and that is not one of `taken`: what isn't
// allowed becomes '_', and a second one gets ".2". Not "peak" or "end", which are moments.
std::string SnapshotName(std::string_view written, const std::vector<NamedSnapshot>& taken);

struct LiveChange {
  uint32_t moment = 0;  // index, of a moment or of a named snapshot
  Count live;           // from this moment on, until the next change
  friend bool operator==(const LiveChange&, const LiveChange&) = default;
};
using LiveHistory = std::vector<LiveChange>;

// Appends what is live from `moment` on, unless that is no change. Pre: no earlier than the last,
// whose place it takes where it is of the same moment.
void AddChange(LiveHistory& history, uint32_t moment, const Count& live);

Count LiveAt(const LiveHistory& history, uint32_t moment);

// What was live of the two together.
LiveHistory SumOf(const LiveHistory& a, const LiveHistory& b);

// The history where moment i stands at `moved[i]`, a permutation of all moments.
LiveHistory InOrder(const LiveHistory& history, const std::vector<uint32_t>& moved);

// The history at every second of `moments` only: 0, 2, 4, …, which are then 0, 1, 2, ….
LiveHistory EverySecond(const LiveHistory& history, size_t moments);

}  // namespace memprof

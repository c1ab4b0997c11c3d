// History: a program's heap over time. It has the timeline of the whole heap, and each site's live
// figures at moments that are uniform in time, and at the named moments. The supervisor takes all
// of them from outside; a run without a supervisor has none.
//
// A site's history is kept as its changes, so that unchanged figures take no room:
//
//   moments    0    1    2    3
//   live       0  100  100   40        history {1, 100}, {3, 40}
//
// Invariant of a LiveHistory: moments ascend, and no change repeats what was live before it
// (nothing before the first). Units: bytes are requested bytes, times milliseconds after the
// program's start.
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

// Upper bounds for taking histories and for reading them from a capture.
inline constexpr size_t kMaxTimelinePoints = 512;
inline constexpr size_t kMaxMoments = 128;
inline constexpr size_t kMaxNamedMoments = 64;
inline constexpr size_t kMaxMomentNameBytes = 64;
inline constexpr size_t kMaxLiveChanges = size_t{8} << 20;  // of all sites together

struct TimelinePoint {
  uint64_t time_ms = 0;
  uint64_t heap_bytes = 0;            // live
  std::optional<uint64_t> rss_bytes;  // none: not known, the process had ended
  friend bool operator==(const TimelinePoint&, const TimelinePoint&) = default;
};

// At most one point an interval. The last point is the exception: it is the newest, whenever it was
// taken. The times ascend.
struct Timeline {
  uint64_t interval_ms = 0;
  std::vector<TimelinePoint> points;
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

struct Moment {
  uint64_t time_ms = 0;
  bool inexact = false;  // events raced the reading: each site's figure is from some instant of it
  friend bool operator==(const Moment&, const Moment&) = default;
};

// As Timeline's points.
struct Moments {
  uint64_t interval_ms = 0;
  std::vector<Moment> at;
  friend bool operator==(const Moments&, const Moments&) = default;
};

// A look at what was live, taken when somebody asked for it ("memprof snapshot"). Never thinned.
struct NamedMoment {
  std::string name;  // IsMomentName
  uint64_t time_ms = 0;
  bool inexact = false;  // as in Moment
  friend bool operator==(const NamedMoment&, const NamedMoment&) = default;
};

// By ascending time, at equal times by name; names are unique.
struct NamedMoments {
  std::vector<NamedMoment> taken;  // at most kMaxNamedMoments
  uint64_t left_out = 0;           // number of moments that were taken and dropped
  bool empty() const { return taken.empty() && left_out == 0; }
  friend bool operator==(const NamedMoments&, const NamedMoments&) = default;
};

// True for 1 to kMaxMomentNameBytes bytes without control characters, '/' and '@', so that the
// name can follow the '@' of FILE@NAME.
bool IsMomentName(std::string_view name);

// The valid name that is nearest to `written` and is not in `taken`: forbidden characters become
// '_', and a second one gets ".2". Never "peak" or "end", which are moments.
std::string MomentName(std::string_view written, const std::vector<NamedMoment>& taken);

struct LiveChange {
  uint32_t moment = 0;  // index of a moment or of a named moment
  Count live;           // from this moment on, until the next change
  friend bool operator==(const LiveChange&, const LiveChange&) = default;
};
using LiveHistory = std::vector<LiveChange>;

// Appends what is live from `moment` on, unless nothing changes. Pre: `moment` is not before the
// last change; a change at the same moment is replaced.
void AddChange(LiveHistory& history, uint32_t moment, const Count& live);

Count LiveAt(const LiveHistory& history, uint32_t moment);

// The history of the two together.
LiveHistory SumOf(const LiveHistory& a, const LiveHistory& b);

// The history after moment i moved to `moved[i]`, a permutation of all moments.
LiveHistory InOrder(const LiveHistory& history, const std::vector<uint32_t>& moved);

// The history at every second of `moments` moments: 0, 2, 4, …, which become 0, 1, 2, ….
LiveHistory EverySecond(const LiveHistory& history, size_t moments);

}  // namespace memprof

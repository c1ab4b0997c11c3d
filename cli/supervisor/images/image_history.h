// ImageHistory: one image's live bytes over time, seen from outside: the timeline of its heap and
// RSS, and moments with each site's live figures.
//
//   Look, when it is due ── timeline   the ordering word and /proc/PID/statm: some microseconds
//                        └─ moments    a look at each cell, in a thread: no tracker waits for it
//
// Cost: intervals double as time passes, so both take an ever smaller share of it. Those of the
// moments also double until reading one takes at most 1/kMomentShare of the interval.
// Memory: at most kMaxTimelinePoints points, kMaxMoments moments, and kMaxMomentSites figures in
// them; moments between which nothing changed share their figures. The program is not stopped and
// does no work for it.
//
// Thread safety: one owner. Failure: what can't be read is left out.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <future>
#include <optional>

#include "cli/supervisor/images/uniform_series.h"
#include "core/region/region_history.h"
#include "core/region/region_place.h"

namespace memprof {

inline constexpr uint64_t kFirstTimelineIntervalMs = 4;
inline constexpr uint64_t kFirstMomentsIntervalMs = 16;
inline constexpr int kMomentShare = 50;
inline constexpr size_t kMaxMomentSites = size_t{2} << 20;

class ImageHistory {
 public:
  // A test's clock can make weeks pass in an instant; any thread may call it.
  using Clock = std::chrono::steady_clock::time_point (*)();

  // The region's descriptor is duplicated. `start` is time 0.
  ImageHistory(const RegionPlace& region, pid_t pid, std::chrono::steady_clock::time_point start,
               Clock clock = std::chrono::steady_clock::now, uint64_t interval_scale = 1);
  ImageHistory(const ImageHistory&) = delete;
  ~ImageHistory();

  // Takes what is due.
  void Look();
  // The time of the next Look; never in the past after a Look.
  std::chrono::steady_clock::time_point NextLook() const;

  // Waits for a moment that is being read.
  void Settle() {
    if (Reading()) CollectMoment();
  }

  // From this time on the process may have run another program, whose RSS isn't this image's.
  void ForgetResidentSince(std::chrono::steady_clock::time_point time);

  // The current RSS; unset if the process is gone.
  std::optional<uint64_t> ResidentBytes() const;

  // The history up to now. `alive`: the process still runs this image. If not, its current RSS is
  // not read, and a moment that is being read is waited for.
  RegionHistory Content(bool alive);

 private:
  struct MomentRead {
    Result<RegionMoment> moment;
    std::chrono::nanoseconds cost;  // CPU time of the reading thread
  };

  uint64_t MsOf(std::chrono::steady_clock::time_point time) const;
  uint64_t NowMs() const { return MsOf(clock_()); }
  void AddPoint(uint64_t now_ms, bool alive);
  void StartMoment();
  void CollectMoment();
  bool Reading() const { return reading_.valid(); }
  bool ReadingIsDone() const;

  const RegionPlace region_;
  const ScopedFd statm_;
  const std::chrono::steady_clock::time_point start_;
  const Clock clock_;
  UniformSeries<TimelinePoint> timeline_;
  UniformSeries<RegionMoment> moments_;
  std::future<MomentRead> reading_;
  // The times that the last moments took. The smallest counts: a single one may be high because the
  // machine was busy, and an interval that has doubled stays doubled.
  std::chrono::nanoseconds costs_[3] = {};
  size_t collected_ = 0;
  uint64_t pause_until_ms_ = 0;  // something could not be read: no retry before this time
};

}  // namespace memprof

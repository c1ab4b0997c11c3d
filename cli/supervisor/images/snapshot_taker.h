// SnapshotTaker: the named snapshots of one image of the program: taken when they are asked for, by
// a thread that reads the region while the program goes on.
//
// At most kMaxNamedSnapshots are kept. When there are more the oldest automatic one (of a schedule)
// goes and is counted; where all were asked for one by one the new one is refused, and counted.
//
// Memory: a figure for each site that is live, per snapshot; such that are alike share them.
// Thread safety: one owner. Failure: told in the outcome.
#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <string>
#include <vector>

#include "core/region/region_history.h"
#include "core/result.h"

namespace memprof {

struct SnapshotRequest {
  std::string name;        // empty: that of its time
  bool automatic = false;  // may give way to later ones
  int answer_fd = -1;      // of who waits for the outcome; whose it is is the asker's affair
};

class SnapshotTaker {
 public:
  // The region's descriptor is duplicated. `start` is time 0.
  SnapshotTaker(const RegionPlace& region, std::chrono::steady_clock::time_point start);
  SnapshotTaker(const SnapshotTaker&) = delete;
  ~SnapshotTaker();

  void Ask(SnapshotRequest request);
  // Something that was asked for is not taken yet: Collect soon.
  bool Busy() const { return !asked_.empty(); }

  struct Outcome {
    SnapshotRequest request;
    Result<NamedSnapshot> taken;
  };
  // What has been done since the last one. `wait`: all that was asked for.
  std::vector<Outcome> Collect(bool wait);

  void AddTo(RegionHistory& history) const;

 private:
  void StartReading();
  Result<NamedSnapshot> Keep(const SnapshotRequest& request, Result<RegionMoment> moment);

  struct Kept {
    NamedRegionMoment named;
    bool automatic;
  };

  RegionPlace region_;  // the descriptor is its own
  const std::chrono::steady_clock::time_point start_;
  std::deque<SnapshotRequest> asked_;  // the first is being read
  std::future<Result<RegionMoment>> reading_;
  std::vector<Kept> kept_;
  uint64_t left_out_ = 0;
};

// How a snapshot is called after its time, so that it can be asked for by it: "10m", "1h30m", "90s"
// is "1m30s", "250ms". Whole seconds from ten seconds on.
std::string NameOfTime(uint64_t time_ms);

}  // namespace memprof

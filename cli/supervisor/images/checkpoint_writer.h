// CheckpointWriter: writes a capture in a thread. The supervisor's loop must not wait for a slow
// disk: a tracker that connects waits only kHandshakeTimeoutMs.
//
// Thread safety: one owner.
// Memory: the region lives until it is written.
// Failure: Finish returns the error of the last write.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <string>

#include "core/region/region_history.h"
#include "core/result.h"
#include "core/snapshot/canonical_snapshot.h"

namespace memprof {

// The first checkpoint comes soon, so that a job that is killed has left its own capture. `every`:
// the interval of the later ones.
inline std::chrono::milliseconds FirstCheckpoint(std::chrono::milliseconds every) {
  return std::min<std::chrono::milliseconds>(every, std::chrono::seconds(1));
}

class CheckpointWriter {
 public:
  // Pre: !Busy(). The descriptor may be closed at once: it is duplicated.
  void Start(const std::string& file, const RegionPlace& region, SnapshotProgram program,
             RegionHistory history, const std::string& metrics = {});
  bool Busy() const;
  bool Started() const { return written_.valid(); }
  // Waits for the write. Succeeds if none was started.
  Result<void> Finish();
  // Why the last finished write has no metrics; empty: it has, or none were asked for.
  const std::string& no_metrics() const { return no_metrics_; }

 private:
  struct Written {
    Result<void> capture;
    std::string no_metrics;
  };
  std::future<Written> written_;
  std::string no_metrics_;
};

// Writes the region's content as a capture, and its figures as metrics if a file is named for them,
// even if the capture can't be written. Returns what was written. `no_metrics` gets the reason if
// there are none.
Result<CanonicalSnapshot> WriteRegion(const std::string& file, const RegionPlace& region,
                                      const SnapshotProgram& program, const RegionHistory& history,
                                      const std::string& metrics, std::string& no_metrics);

}  // namespace memprof

// CheckpointWriter: writes a capture beside the supervisor's loop, which must not wait for a slow
// disk: a tracker that connects waits only kHandshakeTimeoutMs.
//
// Thread safety: one owner; the writing itself is a thread of its own.
// Memory: the region lives until it is written.
// Failure: Finish gives the error of what was started last.
#pragma once

#include <future>
#include <string>

#include "core/region/region_history.h"
#include "core/result.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

class CheckpointWriter {
 public:
  // Pre: !Busy(). The descriptor may be closed at once: it is duplicated.
  void Start(const std::string& file, const RegionPlace& region, SnapshotProgram program,
             RegionHistory history, const std::string& metrics = {});
  bool Busy() const;
  bool Started() const { return written_.valid(); }
  // Waits for it. Fine where none was started.
  Result<void> Finish();
  // Why what was finished last has no metrics; empty: it has, or none were asked for.
  const std::string& no_metrics() const { return no_metrics_; }

 private:
  struct Written {
    Result<void> capture;
    std::string no_metrics;
  };
  std::future<Written> written_;
  std::string no_metrics_;
};

// The region's content as a capture, and its figures as metrics where a file is named for them,
// whether the capture can be written or not; what was written. `no_metrics`: why they can't be.
Result<Snapshot> WriteRegion(const std::string& file, const RegionPlace& region,
                             const SnapshotProgram& program, const RegionHistory& history,
                             const std::string& metrics, std::string& no_metrics);

}  // namespace memprof

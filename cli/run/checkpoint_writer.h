// CheckpointWriter: writes a capture beside the supervisor's loop, which must not wait for a slow
// disk: a tracker that connects waits only kHandshakeTimeoutMs.
//
// Thread safety: one owner; the writing itself is a thread of its own.
// Memory: the region lives until it is written.
// Failure: Finish gives the error of what was started last.
#pragma once

#include <future>
#include <string>

#include "core/region_history.h"
#include "core/result.h"
#include "core/snapshot.h"

namespace memprof {

class CheckpointWriter {
 public:
  // Pre: !Busy(). `region_fd` may be closed at once: it is duplicated.
  void Start(const std::string& file, int region_fd, SnapshotProgram program,
             RegionHistory history);
  bool Busy() const;
  bool Started() const { return written_.valid(); }
  // Waits for it. Fine where none was started.
  Result<void> Finish();

 private:
  std::future<Result<void>> written_;
};

// The region's content as a capture; what was written.
Result<Snapshot> WriteRegion(const std::string& file, int region_fd, const SnapshotProgram& program,
                             const RegionHistory& history);

}  // namespace memprof

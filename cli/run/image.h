// Image: one program that the profiled process runs, from its tracker's connecting to its exec or
// end: its region and what only the outside can know of it.
//
// Thread safety: none. Failure: what /proc doesn't tell stays unknown.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "cli/run/image_history.h"
#include "cli/run/region_file.h"
#include "core/region_layout.h"
#include "core/snapshot.h"

namespace memprof {

class Image {
 public:
  // `name`: as the user called the program; empty: the executable's.
  Image(RegionFile region, pid_t pid, std::string name);

  int region_fd() const { return region_.fd(); }
  const std::string& name() const { return program_.program; }

  // Looks at the heap's peak and the process's memory. False: nothing changed since the last.
  bool Sample();

  // Follows the heap over time: to be called when it is due.
  void LookAtHistory();
  std::chrono::steady_clock::time_point NextLook() const;
  // As of now. Pre: Describe(end, …) was called.
  RegionHistory History(EndKind end);

  // A tracker counts here, or has. (One that got its region too late leaves it as it was.)
  bool Attached() const { return State() != TrackerState::kEmpty; }

  // The process has executed something else, from which no tracker came.
  bool replaced() const { return replaced_; }
  void MarkReplaced() { replaced_ = true; }
  // For a process that exited and is not reaped yet: whether it did so as another program. Exact
  // where the last Sample saw it; else told by a new name together with an exit that the tracker
  // didn't see.
  void LookForLateExec();

  // What is known of the program as of now. `end` is kRunning while it lives.
  SnapshotProgram Describe(EndKind end, uint32_t code);

 private:
  using Executable = std::pair<dev_t, ino_t>;
  static Executable ExecutableOf(pid_t pid);
  TrackerState State() const;

  RegionFile region_;
  pid_t pid_;
  SnapshotProgram program_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_sample_;
  ImageHistory history_;
  Executable executable_;
  std::chrono::steady_clock::time_point last_own_;  // when it surely ran this image
  std::string thread_name_;  // of the process, when it was last seen to run this image
  bool replaced_ = false;
  int64_t current_ = 0;
  uint64_t peak_ = 0;
};

}  // namespace memprof

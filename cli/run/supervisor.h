// Supervisor: runs one program under the tracker until it ends, and sees to its captures.
//
//   poll ── signals      forward; SIGCHLD: the program stopped, or ended
//        ── socket       a tracker: the first image, or the next one after an exec
//        ── 100 ms tick  peak and RSS; 1 s when nothing changes
//        ── checkpoint   the capture as of now
//
// Thread safety: one a process, one thread.
// Failure: what can't be written is said on stderr; the program is never disturbed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/run/child.h"
#include "cli/run/image.h"
#include "cli/run/region_file.h"
#include "cli/run/signals.h"
#include "cli/run/tracker_socket.h"

namespace memprof {

struct SupervisorOptions {
  std::string output;                   // the capture's file, expanded
  std::chrono::seconds checkpoint{30};  // 0: none
};

struct RunOutcome {
  bool signalled = false;
  int code = 0;                     // exit status or signal
  std::unique_ptr<Image> image;     // the last one; null: no tracker ever came
  std::string write_error;          // of the last image's capture; empty: it is written
  Snapshot snapshot;                // what was written
  int earlier_images = 0;           // captures of images before an exec
  int descendants = 0;              // trackers of other processes that were sent away
};

class Supervisor {
 public:
  Supervisor(SupervisorOptions options, Signals& signals, TrackerSocket& socket, pid_t program,
             RegionFile first_region);

  RunOutcome Run();

 private:
  void OnSignals();
  void OnVisitors();
  void OnTick();
  bool ReapProgram();
  void Checkpoint();
  void FinishImage(EndKind end, uint32_t code, const std::string& file);

  SupervisorOptions options_;
  Signals& signals_;
  TrackerSocket& socket_;
  pid_t program_;
  RegionFile next_region_;  // for the image that comes next
  bool next_region_given_ = false;
  RunOutcome outcome_;
  bool ended_ = false;
  std::chrono::milliseconds tick_;
  int quiet_ticks_ = 0;
  std::chrono::steady_clock::time_point next_checkpoint_;
};

}  // namespace memprof

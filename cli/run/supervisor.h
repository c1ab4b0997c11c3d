// Supervisor: watches over one program until it ends, and sees to its captures.
//
//   poll ── signals      forward; SIGCHLD: the program stopped, or ended
//        ── socket       a tracker: the first image, or the next one after an exec
//        ── 100 ms tick  peak and RSS; 1 s when nothing changes
//        ── history      what the image had allocated over time, when it is due (ImageHistory)
//        ── checkpoint   the capture as of now, written by a thread
//
// Thread safety: one a process, one thread.
// Failure: what can't be written is said on stderr; the program is never disturbed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/checkpoint_writer.h"
#include "cli/run/executed_images.h"
#include "cli/run/image.h"
#include "cli/run/region_file.h"
#include "cli/run/signals.h"
#include "cli/run/tracker_socket.h"
#include "core/snapshot.h"

namespace memprof {

struct SupervisorOptions {
  std::string program;                      // its name
  std::string output;                       // the capture's file, expanded
  std::string region;                       // the region's file, expanded; empty: in memory
  bool overwrite = false;                   // captures of earlier images too
  std::chrono::milliseconds checkpoint{0};  // 0: none
  TrackerOptions tracker;
};

struct RunOutcome {
  bool signalled = false;
  int code = 0;                                // exit status or signal number
  int executed_images = 0;                     // images before the last one
  int executed_without_capture = 0;            // of those
  std::vector<std::string> executed_captures;  // the files of the others
  int checkpoints = 0;                         // written
  int late_trackers = 0;                       // of the program, that had given up waiting for us
  int descendants = 0;                         // trackers of other processes, which were sent away
  std::string untracked_image;      // the last image's capture is that of this program, which
                                    // executed another that no tracker came from
  std::string write_error;          // of the last image's capture; empty: it is written
  std::optional<Snapshot> written;  // the last image's
};

class Supervisor {
 public:
  // `region` is for the first image.
  Supervisor(SupervisorOptions options, Signals& signals, TrackerSocket& socket, pid_t program,
             RegionFile region);

  // Returns when the program has ended and its capture is written.
  RunOutcome Run();

 private:
  void OnSignals();
  void OnVisitors();
  void OnTick();
  void StartImage(const TrackerSocket::Visitor& visitor);
  void FinishLastImage();
  void FinishCheckpoint();
  bool LookAtProgram();
  Result<RegionFile> NextRegion();

  SupervisorOptions options_;
  Signals& signals_;
  TrackerSocket& socket_;
  const pid_t program_;
  std::optional<RegionFile> first_region_;
  RunOutcome outcome_;
  bool ended_ = false;
  CheckpointWriter checkpoint_;
  ExecutedImages executed_;
  std::unique_ptr<Image> image_;
  bool checkpoint_failed_ = false;  // said once
  std::chrono::milliseconds tick_;
  int quiet_ticks_ = 0;
  std::chrono::steady_clock::time_point next_checkpoint_;
};

}  // namespace memprof

// Supervisor: watches over one program until it ends, and sees to its captures.
//
//   poll ── signals      forward; SIGCHLD: the program stopped, or ended
//        ── socket       a tracker: the first image, or the next one after an exec
//        ── program      let go, or ended (SupervisedProgram)
//        ── descendants  (ProcessTree)
//        ── 100 ms tick  peak and RSS; 1 s when nothing changes
//        ── history      what the image had allocated over time, when it is due (ImageHistory)
//        ── snapshots    those that have names (RunSnapshots)
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

#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/images/checkpoint_writer.h"
#include "cli/supervisor/images/executed_images.h"
#include "cli/supervisor/images/image.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/processes/supervised_program.h"
#include "cli/supervisor/run_snapshots.h"
#include "cli/supervisor/tree/process_tree.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

class InnerJemallocCache;

struct SupervisorOptions {
  std::string program;                      // its name
  std::string output;                       // the capture's file, expanded
  std::string region;                       // the region's file, expanded; empty: in memory
  bool overwrite = false;                   // captures of earlier images too
  bool command_line = true;                 // it is in the captures
  std::chrono::milliseconds checkpoint{0};  // 0: none
  TrackerOptions tracker;
  std::string unseen_allocator;  // inside the program that is started (elf_facts.h)
  SnapshotOptions snapshots;
  std::string metrics;  // a file for Prometheus; empty: none
};

struct RunOutcome : ProgramEnd {
  int executed_images = 0;                     // images before the last one
  int executed_without_capture = 0;            // of those
  std::vector<std::string> executed_captures;  // the files of the others
  int checkpoints = 0;                         // written
  int late_trackers = 0;                       // of the program, that had given up waiting for us
  int descendants = 0;                         // trackers of other processes, which were sent away
  bool jemalloc_refused = false;               // by the last image's (Image::JemallocRefused)
  bool left_out = false;                       // --only or --skip: the program itself
  std::string untracked_image;      // the last image's capture is that of this program, which
                                    // executed another that no tracker came from
  std::string write_error;          // of the last image's capture; empty: it is written
  std::optional<Snapshot> written;  // the last image's
  Count kept_by_runtime;            // of its leaks (FindKeptByRuntime)
};

class Supervisor {
 public:
  // What is given by reference must outlive this. `region` is for the first image. `tree`: of the
  // program's descendants, likewise; nullptr: they aren't followed.
  Supervisor(SupervisorOptions options, Signals& signals, TrackerSocket& socket,
             ControlSocket& control, InnerJemallocCache& jemallocs, SupervisedProgram& program,
             RegionFile region, ProcessTree* tree = nullptr);

  // Returns when the program has ended and its capture is written.
  RunOutcome Run();

 private:
  void OnSignals();
  void OnVisitors();
  void OnDetachRequest(int fd);
  void AnswerDetachRequests();
  void OnTick();
  void StartImage(const TrackerSocket::Visitor& visitor);
  RegionHistory HistoryOf(EndKind end);
  void FinishLastImage();
  void FinishCheckpoint();
  void SayNoMetrics(const std::string& why);
  bool LookAtProgram();
  Result<RegionFile> NextRegion(uint64_t most_bytes);
  void Look(std::chrono::steady_clock::time_point& next_tick);

  SupervisorOptions options_;
  Signals& signals_;
  TrackerSocket& socket_;
  InnerJemallocCache& jemallocs_;
  SupervisedProgram& program_;
  ProcessTree* const tree_;
  std::optional<RegionFile> first_region_;
  RunOutcome outcome_;
  bool ended_ = false;
  CheckpointWriter checkpoint_;
  ExecutedImages executed_;
  RunSnapshots snapshots_;
  std::unique_ptr<Image> image_;
  bool checkpoint_failed_ = false;  // said once
  bool metrics_failed_ = false;     // likewise
  bool out_of_memory_ = false;      // likewise
  std::chrono::milliseconds tick_;
  int quiet_ticks_ = 0;
  std::vector<int> detach_askers_;  // to be answered when the capture is written
  std::chrono::steady_clock::time_point next_checkpoint_;
};

}  // namespace memprof

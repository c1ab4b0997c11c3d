// Supervisor: watches one program until it ends, and writes its captures.
//
//   poll ── signals      forward; SIGCHLD: the program stopped, or ended
//        ── socket       a tracker: the first image, or the next one after an exec
//        ── program      detached, or ended (SupervisedProgram)
//        ── descendants  (ProcessTree)
//        ── 100 ms tick  peak and RSS; 1 s when nothing changes
//        ── history      the image's live bytes over time, when a look is due (ImageHistory)
//        ── requests     for named moments (RunNamedMoments)
//        ── answers      of inspections (RunInspections)
//        ── checkpoint   the capture as of now, written by a thread; the first after a second
//        ── timeout      SIGTERM, and SIGKILL 10 s later
//
// Thread safety: one a process, one thread.
// Failure: what can't be written is reported on stderr; the program is never disturbed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/supervisor/channels/shown_run.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/images/checkpoint_writer.h"
#include "cli/supervisor/images/executed_images.h"
#include "cli/supervisor/images/image.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/processes/supervised_program.h"
#include "cli/supervisor/run_inspections.h"
#include "cli/supervisor/run_named_moments.h"
#include "cli/supervisor/tree/process_tree.h"
#include "core/profile/runtime_leaks.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

class InnerJemallocCache;

struct SupervisorOptions {
  std::string program;                      // its name
  std::string output;                       // the capture's file, expanded
  std::string region;                       // the region's file, expanded; empty: in memory
  bool overwrite = false;                   // also overwrite the captures of earlier images
  bool command_line = true;                 // keep the command line in the captures
  std::chrono::milliseconds checkpoint{0};  // 0: none
  TrackerOptions tracker;
  std::string unseen_allocator;  // inside the started program (elf_facts.h)
  NamedMomentOptions named_moments;
  RunInspectionOptions inspections;
  std::string metrics;  // a file for Prometheus; empty: none
  // Then the program and its descendants are ended; 0: never.
  std::chrono::milliseconds timeout{0};
};

// After the SIGTERM of a timeout.
inline constexpr std::chrono::seconds kKillAfterTimeout{10};

struct RunOutcome : ProgramEnd {
  bool timed_out = false;                      // SupervisorOptions::timeout ended it
  int executed_images = 0;                     // images before the last one
  int executed_without_capture = 0;            // how many of those have no capture
  std::vector<std::string> executed_captures;  // the captures of the others
  int checkpoints = 0;                         // written
  // trackers of the program that had given up waiting for us
  int late_trackers = 0;
  // trackers of other processes, which were told to run untracked
  int descendants = 0;
  bool jemalloc_refused = false;       // by the last image's (Image::JemallocRefused)
  std::string not_inspected;           // at its end, though asked for: why; empty: no reason
  std::string without_python;          // why its stacks have no Python frames; empty: no reason
  std::string without_python_objects;  // why these aren't counted one by one; empty: no reason
  bool left_out = false;               // --only or --skip: the program itself
  // if not empty: the last image executed this program, from which no tracker came, so the capture
  // is the earlier image's
  std::string untracked_image;
  std::string write_error;          // of the last image's capture; empty: it is written
  std::optional<Snapshot> written;  // the last image's capture
  // the part of its leaks that is kept by design (FindKeptByRuntime)
  LeakClasses leak_classes;
};

class Supervisor {
 public:
  // Objects passed by reference must outlive this, and so must `tree`. `region` is for the first
  // image. `tree` holds the program's descendants; nullptr: they aren't followed.
  Supervisor(SupervisorOptions options, Signals& signals, TrackerSocket& socket,
             ControlSocket& control, InnerJemallocCache& jemallocs, SupervisedProgram& program,
             RegionFile region, ProcessTree* tree = nullptr);

  // Returns when the program has ended and its capture is written.
  RunOutcome Run();

 private:
  void OnSignals();
  void OnVisitors();
  ShownRun Shown() const;
  void OnDetachRequest(int fd);
  void AnswerDetachRequests();
  void OnTick();
  void OnTimeout();
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
  RunNamedMoments named_moments_;
  RunInspections inspections_;
  std::unique_ptr<Image> image_;
  bool checkpoint_failed_ = false;  // said once
  bool metrics_failed_ = false;     // likewise
  bool out_of_memory_ = false;      // likewise
  std::chrono::milliseconds tick_;
  int quiet_ticks_ = 0;
  std::vector<int> detach_askers_;  // to be answered when the capture is written
  std::chrono::steady_clock::time_point next_checkpoint_;
  std::chrono::steady_clock::time_point timeout_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace memprof

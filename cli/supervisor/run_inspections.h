// RunInspections: inspections of a run's program while it runs, and of its heap before it ends
// (core/inspect). The newest answer is kept in the capture.
//
//   --inspect-at-exit         the program waits before its exit handlers (RegionHeader.exit_look)
//   --inspect-at peak-rss     its memory is a quarter above that of the last one
//   --inspect-at SIGNAL       a signal to memprof, which is then not forwarded
//   --inspect-at NAME         a snapshot of this name was taken
//        └─► a process of ours looks, and sends its answer through a pipe
//
// One at a time; what is asked for meanwhile comes after it.
//
// Thread safety: one owner, the supervisor's loop. The process is a fork without an exec: the other
// threads of ours hold no locks but the allocator's, which survive a fork.
// Failure: reported on stderr.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/supervisor/channels/shown_run.h"
#include "cli/supervisor/images/image.h"
#include "core/result.h"
#include "core/scoped_fd.h"
#include "core/snapshot/inspection_record.h"

namespace memprof {

// Looks at a process. `at_exit`: its main work is done.
using InspectProcess =
    std::function<Result<SnapshotInspection>(const ShownProcess& process, bool at_exit)>;

struct RunInspectionOptions {
  bool at_exit = false;
  bool at_peak_rss = false;
  int signal = 0;                  // 0: none
  std::vector<std::string> names;  // of snapshots
  InspectProcess inspect;          // empty: there are none
};

class RunInspections {
 public:
  explicit RunInspections(RunInspectionOptions options);
  RunInspections(const RunInspections&) = delete;
  ~RunInspections() { Stop(); }

  // Readable: call OnAnswer. -1: none goes on.
  int fd() const { return answer_.get(); }
  bool IsOurs(int signal) const { return options_.signal != 0 && signal == options_.signal; }
  // The program may ask at any moment, or reach its peak.
  bool NeedsTicks() const { return options_.at_exit || options_.at_peak_rss; }

  // Precondition of all: `image` is the running one, or null.
  void OnSignal(Image* image);
  void OnTick(Image* image);
  void OnAnswer(Image* image);
  // The image ends, with what was found.
  void FinishImage(Image& image);
  // Why the last image's end was not looked at, although that was asked for; empty: it was, or nobody
  // asked.
  std::string WhyNoneAtExit(const Image& image) const;

 private:
  enum class Cause { kNone, kExit, kPeak, kSignal, kName };

  void Ask(Image& image, Cause cause);
  void Start(Image& image);
  void Stop();
  bool HasNewPeak(const Image& image);
  bool HasNewName(const Image& image);
  void TellProgram(const Image& image, uint32_t word) const;

  RunInspectionOptions options_;
  const Image* image_ = nullptr;  // the image that what follows is of
  Cause asked_ = Cause::kNone;    // to be looked at next
  Cause running_ = Cause::kNone;
  pid_t looker_ = 0;
  ScopedFd answer_;
  std::string received_;
  uint64_t at_rss_ = 0;  // its memory at the last one
  size_t names_ = 0;     // snapshots that were seen
  uint32_t beat_ = kExitLookDone;
  bool exit_answered_ = false;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point not_before_;  // the next one at a peak
};

}  // namespace memprof

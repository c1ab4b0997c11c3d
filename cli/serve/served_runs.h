// ServedRuns: reads the runs that are served. Viewers share a look: it is read when one asks, and not
// again before it is kYoungest old, or four times as old as it took to read it and to make what was asked
// of it. So readers, however many, take at most a fifth of a core.
//
// A run is known by its capture: if it ends, its last figures stay, and if another one begins to write
// the same capture, that one is followed.
//
// Thread safety: any thread. Failure: of Add alone; later, what can't be read is left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/basics/mutex.h"
#include "cli/live/live_names.h"
#include "cli/live/live_source.h"
#include "cli/live/runs.h"
#include "cli/serve/served_look.h"
#include "core/result.h"

namespace memprof {

class ServedRuns {
 public:
  static constexpr std::chrono::milliseconds kYoungest{200};
  // Prometheus gives up after 10 s, if it isn't told otherwise.
  static constexpr std::chrono::milliseconds kNamesWait{5000};

  ServedRuns();

  // As FindRun takes it; also a capture of a run that has ended, or that is to come.
  Result<void> Add(const std::string& target);
  // The run of this supervisor, which may not answer yet.
  void AddSupervisor(pid_t supervisor);

  // Never null. Names that aren't found within kNamesWait are addresses ("module+0x12"), and come with a
  // later look.
  std::shared_ptr<const ServedLook> Look();

  struct Moment {
    bool taken;
    std::string text;
  };
  // `run`: the program's pid; 0: the only run. Waits for the supervisor.
  Moment TakeMoment(pid_t run, const std::string& name);

  struct State {
    std::vector<pid_t> supervisors;  // whose runs are read now
    bool complete = true;            // none is missing
  };
  State Now();

 private:
  struct Target {
    std::string capture;  // its absolute path; until it is known, what FindRun is asked for
    std::unique_ptr<LiveSource> source;  // of the run that goes on; null: there is none
    ServedRunLook last;
  };

  static void Read(Target& target);
  static void Name(ServedRunLook& run, LiveNames& names,
                   std::chrono::steady_clock::time_point until);

  Mutex mutex_;
  std::vector<Target> targets_ MEMPROF_GUARDED_BY(mutex_);
  LiveNames names_ MEMPROF_GUARDED_BY(mutex_);
  std::shared_ptr<const ServedLook> look_ MEMPROF_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point fresh_until_ MEMPROF_GUARDED_BY(mutex_);
  uint64_t looks_ MEMPROF_GUARDED_BY(mutex_) = 0;
};

}  // namespace memprof

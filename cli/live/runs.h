// The runs of this user that are alive, and which one a word on the command line means.
//
// Thread safety: pure, but for the file system and the supervisors. They are asked at once, by at most 32
// threads, and have a second to answer; one that is stopped has 50 ms. Failure: one line; kUsage for a word that means no run.
#pragma once

#include <string>
#include <vector>

#include "cli/supervisor/channels/shown_run.h"
#include "core/result.h"

namespace memprof {

// The runs whose supervisors answer, by their programs' pids. `silent` gets the number of those that
// don't.
std::vector<ShownRun> LivingRuns(size_t* silent = nullptr);

// A run that can be asked again. `target`: the pid of the program or of its memprof, or its capture or
// region. Empty: the only run there is.
struct FoundRun {
  std::string directory;  // where its supervisor listens
  uid_t owner;            // the user of the run
  ControlRequest request;
  ShownRun run;
};
Result<FoundRun> FindRun(const std::string& target);

}  // namespace memprof

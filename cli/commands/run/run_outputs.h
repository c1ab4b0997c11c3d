// Names the files of a run when the program's pid is known, and checks them before the program starts.
//
// Thread safety: none. Failure: kUsage if two options name one file; also as CheckOutput.
#pragma once

#include <sys/types.h>

#include <string>

#include "cli/commands/run/run_options.h"
#include "cli/supervisor/supervisor.h"

namespace memprof {

// Returns the supervisor's options with these names. `program`: its path, as the user wrote it.
Result<SupervisorOptions> NameOutputs(const RunOptions& options, const RunSettings& settings,
                                      const std::string& program, pid_t pid);

}  // namespace memprof

// memprof snapshot: asks the supervisor of a running program for a named snapshot. Exit status 0
// when it is taken.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpSnapshot(CLI::App& app);

}  // namespace memprof

// memprof attach PID: counts what a running program allocates from now on, and lets it go again.
// memprof detach PID: ends that, from anywhere.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpAttach(CLI::App& app);
CommandBody SetUpDetach(CLI::App& app);

}  // namespace memprof

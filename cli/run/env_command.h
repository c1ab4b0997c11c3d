// memprof env: what to set for a run without a supervisor.
#pragma once

#include <string>

#include "cli/command.h"

namespace memprof {

CommandBody SetUpEnv(CLI::App& app);

}  // namespace memprof

// memprof finalize: from the region of a run without a supervisor to its capture.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpFinalize(CLI::App& app);

}  // namespace memprof

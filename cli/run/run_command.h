// memprof run: starts a program under the tracker and leaves its capture.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpRun(CLI::App& app);

}  // namespace memprof

#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpRun(CLI::App& app);

}  // namespace memprof

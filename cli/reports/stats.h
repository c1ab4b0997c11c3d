#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpStats(CLI::App& app);

}  // namespace memprof

#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpGrowth(CLI::App& app);

}  // namespace memprof

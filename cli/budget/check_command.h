// memprof check: captures against a budget.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpCheck(CLI::App& app);

}  // namespace memprof

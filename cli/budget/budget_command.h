// memprof budget init: a first budget file from a capture.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpBudget(CLI::App& app);

}  // namespace memprof

#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpParse(CLI::App& app);

}  // namespace memprof

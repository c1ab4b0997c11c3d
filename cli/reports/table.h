#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpTable(CLI::App& app);

}  // namespace memprof

#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpTransform(CLI::App& app);

}  // namespace memprof

// memprof merge: several captures as one.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpMerge(CLI::App& app);

}  // namespace memprof

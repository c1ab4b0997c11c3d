// memprof doctor [PROGRAM]: what will be seen, what lacks, and what to install.
// Exit status: 0 it can be profiled, 1 it can't.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpDoctor(CLI::App& app);

}  // namespace memprof

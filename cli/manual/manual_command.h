// memprof manual: the man page and the shells' completions, from the commands' own definitions, so
// that neither can differ from what the executable takes.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpManual(CLI::App& app);

}  // namespace memprof

// memprof symbolize: stores in a capture what its frames stand for here, so that other machines
// can report without the binaries.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpSymbolize(CLI::App& app);

}  // namespace memprof

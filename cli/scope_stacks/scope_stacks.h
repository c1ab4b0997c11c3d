// memprof scope-stacks: names the stacks of a scope, which the headers in a program hand over.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpScopeStacks(CLI::App& app);

}  // namespace memprof

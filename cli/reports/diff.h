// memprof diff: what changed from one capture to another. Exit status 0, whatever changed.
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpDiff(CLI::App& app);

}  // namespace memprof

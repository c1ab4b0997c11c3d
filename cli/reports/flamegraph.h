// memprof flamegraph: the capture as one HTML file that works offline (cli/web/page.h).
#pragma once

#include "cli/command.h"

namespace memprof {

CommandBody SetUpFlamegraph(CLI::App& app);

}  // namespace memprof

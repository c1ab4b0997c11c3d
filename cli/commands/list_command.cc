// memprof list: the runs of this user that are alive.

#include <memory>

#include "cli/basics/ascii_text.h"
#include "cli/commands/commands.h"
#include "cli/live/live_text.h"
#include "cli/live/runs.h"
#include "cli/terminal/output.h"

namespace memprof {

CommandBody SetUpList(Arguments& arguments) {
  struct Options {
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  arguments.AddFlag("--json", options->json, "As JSON");
  return [options] {
    const auto runs = LivingRuns();
    return WriteOutput({},
                       options->json ? RunsJson(runs) : ForLocale(RunsText(runs, StyleOfStdout())));
  };
}

}  // namespace memprof

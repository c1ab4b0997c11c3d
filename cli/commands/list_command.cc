// memprof list: the runs of this user that are alive.

#include <memory>

#include "cli/basics/ascii_text.h"
#include "cli/basics/message.h"
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
    size_t silent = 0;
    const auto runs = LivingRuns(&silent);
    if (silent != 0) {
      Say("{} more {} alive and {} not answer: stopped, or very busy", silent,
          silent == 1 ? "run is" : "runs are", silent == 1 ? "does" : "do");
    }
    return WriteOutput({},
                       options->json ? RunsJson(runs) : ForLocale(RunsText(runs, StyleOfStdout())));
  };
}

}  // namespace memprof

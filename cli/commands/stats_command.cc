// memprof stats: the figures of the whole program, for people or as JSON.

#include <memory>
#include <string>

#include "cli/basics/ascii_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/view_options.h"
#include "cli/load/load.h"
#include "cli/reports/exactness.h"
#include "cli/reports/stats_text.h"
#include "cli/reports/timeline_chart.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "core/units.h"
#include "formats/export/json_export.h"

namespace memprof {
namespace {

struct StatsOptions {
  Captures captures;
  bool json = false;
  OutputOptions output;
};

}  // namespace

CommandBody SetUpStats(Arguments& arguments) {
  auto options = std::make_shared<StatsOptions>();
  AddCaptures(arguments, options->captures);
  arguments.AddFlag("--json", options->json, "As JSON");
  AddOutputOptions(arguments, options->output);
  return [options] {
    if (const auto free = CheckOutput(options->output); !free) return ExitStatusOf(free.error());
    // Only the text shows places.
    const auto profile =
        options->json ? LoadFigures(options->captures) : LoadProfile(options->captures);
    if (!profile) return ExitStatusOf(profile.error());
    if (options->json) SayChosen(*profile);
    return WriteOutput(options->output,
                       options->json ? StatsJson(*profile)
                                     : ForLocale(StatsText(*profile, StyleOf(options->output))));
  };
}

}  // namespace memprof

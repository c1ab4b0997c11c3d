// memprof stats: the figures of the whole program, for people or as JSON.

#include "cli/reports/stats.h"

#include <memory>
#include <string>

#include "cli/reports/load.h"
#include "cli/reports/output.h"
#include "cli/reports/stats_text.h"
#include "cli/reports/terminal.h"
#include "cli/reports/timeline_chart.h"
#include "cli/reports/trust.h"
#include "cli/reports/view_options.h"
#include "core/units.h"
#include "formats/json_export.h"

namespace memprof {
namespace {

struct StatsOptions {
  Captures captures;
  bool json = false;
  OutputOptions output;
};

}  // namespace

CommandBody SetUpStats(CLI::App& app) {
  auto options = std::make_shared<StatsOptions>();
  AddCaptures(app, options->captures);
  app.add_flag("--json", options->json, "As JSON");
  AddOutputOptions(app, options->output);
  return [options] {
    if (const auto free = CheckOutput(options->output); !free) return ExitStatusOf(free.error());
    // Only the text names places.
    const auto profile =
        options->json ? LoadFigures(options->captures) : LoadProfile(options->captures);
    if (!profile) return ExitStatusOf(profile.error());
    if (options->json) SayChosen(*profile);
    return WriteOutput(options->output, options->json
                                            ? StatsJson(*profile)
                                            : StatsText(*profile, StyleOf(options->output)));
  };
}

}  // namespace memprof

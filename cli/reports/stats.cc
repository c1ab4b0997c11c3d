// memprof stats: the figures of the whole program, for people or as JSON.

#include "cli/reports/stats.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "cli/reports/load.h"
#include "cli/reports/output.h"
#include "cli/reports/terminal.h"
#include "cli/reports/timeline_chart.h"
#include "cli/reports/trust.h"
#include "core/units.h"
#include "formats/json_export.h"

namespace memprof {
namespace {

struct StatsOptions {
  std::string capture;
  bool json = false;
  OutputOptions output;
};

constexpr size_t kNameColumns = 22;

std::string StatsText(const Profile& profile, const TextStyle& style) {
  const SnapshotProgram& program = profile.program;
  const SnapshotTracker& tracker = profile.tracker;
  std::string text;
  auto line = [&](const char* name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<{}}{}\n", name, kNameColumns, value);
  };
  auto count = [&](const Count& c, const Variance& variance) {
    return FormatFigure(c, variance, tracker.sample_bytes);
  };
  line("program", Printable(program.program));
  line("pid", std::to_string(program.pid));
  line("command", Printable(fmt::format("{}", fmt::join(program.command, " "))));
  line("start", FormatUtcTime(program.start_unix_ms));
  line("duration", FormatDuration(program.duration_ms));
  line("end", EndText(program));
  if (profile.chosen) line("shown as the peak", profile.chosen->name + profile.chosen->note);
  line("peak", count(profile.peak, profile.variances.peak));
  line("leaked", count(profile.leaked, profile.variances.leaked));
  line("total", count(profile.total, profile.variances.total));
  if (tracker.sample_bytes != 0) line("sampled", SamplingText(tracker.sample_bytes));
  line("RSS at its highest",
       program.rss_peak_bytes != 0 ? FormatBytesExact(program.rss_peak_bytes) : "not known");
  line("tracker's memory", FormatBytesExact(tracker.bytes));
  line("sites", FormatCount(profile.sites.size()));
  line("dropped events", FormatCount(tracker.dropped_events));
  line("truncated stacks", FormatCount(tracker.truncated_stacks));
  line("incomplete stacks", FormatCount(tracker.incomplete_stacks));
  line("unknown frees", FormatCount(tracker.unknown_frees));
  line("bound of the peak", FormatBytesExact(tracker.peak_bound_bytes));
  line("in no row", FormatBytesExact(tracker.unattributed_bytes));
  if (profile.timeline.points.empty()) line("over time", "not known: no supervisor watched it");
  text += TimelineChart(profile.timeline, kNameColumns, style);
  for (const std::string& trust : TrustLines(profile)) line("note", Printable(trust));
  return text;
}

}  // namespace

CommandBody SetUpStats(CLI::App& app) {
  auto options = std::make_shared<StatsOptions>();
  app.add_option("capture", options->capture, "The capture, or a file of run --region")->required();
  app.add_flag("--json", options->json, "As JSON");
  AddOutputOptions(app, options->output);
  return [options] {
    if (const auto free = CheckOutput(options->output); !free) return ExitStatusOf(free.error());
    const auto profile = LoadFigures(options->capture);
    if (!profile) return ExitStatusOf(profile.error());
    if (options->json) SayMoment(*profile);
    return WriteOutput(options->output, options->json
                                            ? StatsJson(*profile)
                                            : StatsText(*profile, StyleOf(options->output)));
  };
}

}  // namespace memprof

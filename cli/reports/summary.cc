// memprof summary: what ran, how high its heap was, what it leaked, and where that comes from.

#include "cli/reports/summary.h"

#include <fmt/format.h>

#include <memory>

#include "cli/reports/load.h"
#include "cli/reports/row_text.h"
#include "cli/reports/trust.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kRows = 12;

std::string CountText(const Count& count) {
  return fmt::format("{} in {} {}", FormatBytesExact(count.bytes), FormatCount(count.allocations),
                     count.allocations == 1 ? "allocation" : "allocations");
}

Count KeptByRuntime(const Profile& profile) {
  Count kept;
  for (const ProfileSite& site : profile.sites) {
    if (site.runtime_reason != nullptr) kept += site.leaked;
  }
  return kept;
}

std::string HeadText(const Profile& profile, const TextStyle& style) {
  const SnapshotProgram& program = profile.program;
  std::string text =
      fmt::format("{}  {} after {}, pid {}, started {}\n", Bold(Printable(program.program), style),
                  EndText(program), FormatDuration(program.duration_ms), program.pid,
                  FormatUtcTime(program.start_unix_ms));
  if (!program.command.empty()) {
    const std::string command = Printable(fmt::format("{}", fmt::join(program.command, " ")));
    text += Dim(Shortened(command, style.width), style) + "\n";
  }
  return text;
}

std::string FiguresText(const Profile& profile, const TextStyle& style) {
  const SnapshotProgram& program = profile.program;
  std::string when;
  if (program.peak_time_resolution_ms != 0) {
    when = fmt::format(", at {} (within {})", FormatDuration(program.peak_time_ms),
                       FormatDuration(program.peak_time_resolution_ms));
  }
  std::string text = fmt::format("  peak    {}{}\n", CountText(profile.peak), when);
  text += fmt::format("  leaked  {}", CountText(profile.leaked));
  const Count kept = KeptByRuntime(profile);
  if (kept.allocations != 0) {
    text += fmt::format(", {} of it kept by design by the runtime", FormatBytes(kept.bytes));
  }
  text += fmt::format("\n  total   {}\n", CountText(profile.total));
  text += fmt::format(
      "  RSS     {} at its highest, the tracker's {} included\n",
      program.rss_peak_bytes != 0 ? FormatBytes(program.rss_peak_bytes) : std::string("not known"),
      FormatBytes(profile.tracker.bytes));
  const auto trust = TrustLines(profile);
  if (trust.empty()) text += "  exact   every event was counted\n";
  for (const std::string& line : trust)
    text += fmt::format("  {}  {}\n", Bold("note", style), line);
  return text;
}

}  // namespace

std::string SummaryText(const Profile& profile, const ViewOptions& options,
                        const TextStyle& style) {
  std::string text = HeadText(profile, style) + "\n" + FiguresText(profile, style) + "\n";
  text +=
      Bold(options.leaks ? "Never freed, by place" : "Live at the peak, by place", style) + "\n";
  const auto sort = ParseSortKey(options.sort);
  const auto rows = LocationRows(profile, {options.leaks, options.show_runtime, *sort});
  text += RowText(profile, rows, {options.leaks, options.rows, true, style});
  if (!profile.notes.empty()) text += "\n";
  for (const std::string& note : profile.notes) {
    text += Dim("symbols: " + Printable(note), style) + "\n";
  }
  return text;
}

CommandBody SetUpSummary(CLI::App& app) {
  auto options = std::make_shared<ViewOptions>();
  AddViewOptions(app, *options, kRows);
  return [options] {
    if (const auto sort = ParseSortKey(options->sort); !sort) return ExitStatusOf(sort.error());
    const auto profile = LoadProfile(options->capture);
    if (!profile) return ExitStatusOf(profile.error());
    return WriteOutput(options->output, SummaryText(*profile, *options, StyleOfStdout()));
  };
}

}  // namespace memprof

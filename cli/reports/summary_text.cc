#include "cli/reports/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "cli/basics/shell_word.h"
#include "cli/reports/exactness.h"
#include "cli/reports/process_table.h"
#include "cli/reports/row_text.h"
#include "cli/reports/symbol_notes.h"
#include "core/profile/runtime_leaks.h"
#include "core/units.h"

namespace memprof {
namespace {

// The first ones; `parse` lists all.
std::string NamedText(const NamedMoments& named) {
  constexpr size_t kMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(named.taken.size(), kMost); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", Printable(named.taken[i].name),
                        FormatDuration(named.taken[i].time_ms));
  }
  if (named.taken.size() > kMost) {
    text += fmt::format(" and {} more, which memprof parse lists", named.taken.size() - kMost);
  }
  return text + "; see one with CAPTURE@NAME";
}

std::string HeadText(const Profile& profile, const TextStyle& style) {
  const SnapshotProgram& program = profile.program;
  const std::string name = Printable(program.program);
  const std::string rest = !profile.sources.empty() ? MergeText(profile.sources)
                           : IsRunKnown(program)
                               ? fmt::format("{}, pid {}, started {}", RunText(program),
                                             program.pid, FormatUtcTime(program.start_unix_ms))
                               : "what ran, when and how it ended is in the capture of its run";
  std::string text = Bold(name, style) + "  " +
                     Wrapped(rest, std::min(Columns(name) + 2, style.width / 2), style.width);
  if (!program.command.empty()) {
    const std::string command = Printable(ShellWords(program.command));
    text += Dim(Shortened(command, style.width), style) + "\n";
  }
  return text;
}

std::string RssText(const Profile& profile) {
  const uint64_t rss_peak_bytes = profile.program.rss_peak_bytes;
  const std::string tracker = FormatBytes(profile.tracker.bytes);
  const bool merge = !profile.sources.empty();
  const std::string sum = FormatBytes(rss_peak_bytes) + " at most, the sum of the sources'";
  if (IsOfFiguresOnly(profile)) {  // the trackers' memory is known only for all processes together
    if (rss_peak_bytes == 0) return "not known";
    return merge ? sum : FormatBytes(rss_peak_bytes) + " at its highest, the tracker's included";
  }
  if (merge) {
    return CountedInFile(profile)
               ? fmt::format("{}; trackers counted in files, {} with their memory", sum, tracker)
               : fmt::format("{}; {} of it the trackers'", sum, tracker);
  }
  if (rss_peak_bytes == 0) return fmt::format("not known; the tracker took {}", tracker);
  const std::string peak = FormatBytes(rss_peak_bytes) + " at its highest";
  return CountedInFile(profile)
             ? fmt::format("{}; the tracker counted in a file of {}", peak, tracker)
             : fmt::format("{}, the tracker's {} included", peak, tracker);
}

// Beside the heap; empty if nothing was mapped or nobody looked.
std::string MappedLine(const Profile& profile) {
  const MappingSums mapped = SumMappings(profile.mappings.rows, false);
  if (!profile.mappings.followed || mapped.peak == Count{}) return "";
  return fmt::format(
      "{} in {} mapping{} at most, by the program itself and beside the heap; see memprof table "
      "--mmap",
      FormatBytes(mapped.peak.bytes), FormatCount(mapped.peak.allocations),
      mapped.peak.allocations == 1 ? "" : "s");
}

std::string FiguresText(const Profile& profile, const TextStyle& style) {
  const SnapshotProgram& program = profile.program;
  std::string when;
  if (program.peak_time_resolution_ms != 0) {
    when = fmt::format(", at {} (within {})", FormatDuration(program.peak_time_ms),
                       FormatDuration(program.peak_time_resolution_ms));
  }
  const uint64_t sample_bytes = profile.tracker.sample_bytes;
  // "exact" and "sampled" are the widest names of their reports.
  const size_t indent = sample_bytes == 0 ? 10 : 11;
  std::string text;
  auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<{}}", name, indent - 2) + Wrapped(value, indent, style.width);
  };
  auto figure = [&](const Count& count, const Variance& variance) {
    return FormatFigure(count, variance, sample_bytes);
  };
  const std::vector<std::string> processes = ProcessLines(profile);
  if (!processes.empty()) line("of", Printable(processes[0]));
  if (profile.chosen) when = ", at " + profile.chosen->name + profile.chosen->note;
  line(profile.chosen ? "live" : "peak", figure(profile.peak, profile.variances.peak) + when);
  const LeakClasses classes = {SumKeptByRuntime(profile), SumOfRunningThreads(profile)};
  line("leaked", figure(profile.leaked, profile.variances.leaked) +
                     LeakClassesText(profile.leaked, classes, sample_bytes != 0));
  line("total", figure(profile.total, profile.variances.total));
  line("RSS", RssText(profile));
  if (const std::string mapped = MappedLine(profile); !mapped.empty()) line("mapped", mapped);
  if (!profile.named.taken.empty()) line("named", NamedText(profile.named));
  const auto trust = ExactnessNotes(profile);
  if (sample_bytes != 0) {
    line("sampled", SamplingText(sample_bytes));
  } else if (trust.empty()) {
    line("exact", "every event was counted");
  }
  for (size_t i = 1; i < processes.size(); ++i) line("note", Printable(processes[i]));
  for (const std::string& doubt : trust) line("note", Printable(doubt));
  return text;
}

const char* TitleOf(Figure figure) {
  switch (figure) {
    case Figure::kLeaked:
      return "Never freed, by place";
    case Figure::kTemporary:
      return "Temporary, by place";
    case Figure::kTotal:
      return "Allocated in all, by place";
    case Figure::kPeak:
      break;
  }
  return "Live at the peak, by place";
}

std::string SymbolsText(const Profile& profile, const TextStyle& style) {
  constexpr std::string_view kHead = "symbols: ";
  std::string text;
  for (const std::string& note : GroupedNotes(profile.notes)) {
    text += Dim(std::string(kHead) + Wrapped(Printable(note), kHead.size(), style.width), style);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string MergeText(const std::vector<SnapshotSource>& sources) {
  int64_t last = 0;
  std::map<std::string, size_t> programs;
  for (const SnapshotSource& source : sources) {
    last = std::max(last, source.program.start_unix_ms);
    ++programs[source.program.program];
  }
  // sources are ordered by their start
  const int64_t first = sources.front().program.start_unix_ms;
  std::string names;
  constexpr size_t kMost = 5;
  size_t shown = 0;
  for (const auto& [name, runs] : programs) {
    if (++shown > kMost) break;
    names += fmt::format("{}{} of {}", names.empty() ? "" : ", ", runs, Printable(name));
  }
  if (programs.size() > kMost)
    names += fmt::format(" and {} more programs", programs.size() - kMost);
  return fmt::format("a merge of {} captures, {}, started {} to {}", sources.size(), names,
                     FormatUtcTime(first), FormatUtcTime(last));
}

std::string SummaryText(const Profile& profile, const RowOptions& what, size_t rows,
                        const TextStyle& style) {
  std::string text = HeadText(profile, style) + "\n" + FiguresText(profile, style) + "\n";
  const bool moment = profile.chosen && what.figure == Figure::kPeak;
  text += Bold(moment ? "Live at " + profile.chosen->name + ", by place" : TitleOf(what.figure),
               style) +
          "\n";
  text += RowText(profile, LocationRows(profile, what),
                  {what.figure, rows, what.sort, true, false, style});
  return text + ProcessTable(profile, what.figure, style) + SymbolsText(profile, style);
}

}  // namespace memprof

#include "cli/reports/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/basics/shell_word.h"
#include "cli/reports/exactness.h"
#include "cli/reports/memory_text.h"
#include "cli/reports/rows.h"
#include "core/printable.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kTopPlaces = 5;
constexpr char kNotByProcess[] = "not kept by process in a merge";

std::string TemporaryText(const Profile& profile) {
  const uint32_t threshold = profile.tracker.temporary_threshold;
  if (threshold == 0) return "not known";
  const std::string between =
      threshold == 1 ? std::string("before it allocated again")
                     : fmt::format("with fewer than {} allocations between", threshold);
  return fmt::format(
      "{}, freed by their thread {}",
      FormatFigure(profile.temporary, profile.variances.temporary, profile.tracker.sample_bytes),
      between);
}

// The program's own mappings.
std::string MappedText(const Profile& profile) {
  if (IsOfFiguresOnly(profile)) return kNotByProcess;
  const SnapshotMappings& mappings = profile.mappings;
  if (!mappings.followed && mappings.rows.empty()) return "not followed";
  const MappingSums sums = SumMappings(mappings.rows, false);
  const Count reserved = SumMappings(mappings.rows, true).peak;
  auto of = [](const Count& count) {
    return fmt::format("{} in {}", FormatBytes(count.bytes),
                       FormatCountOf(count.allocations, "mapping"));
  };
  return fmt::format("{} at most, {} at the end{}; see memprof table --mmap", of(sums.peak),
                     of(sums.leaked),
                     reserved == Count() ? "" : "; " + of(reserved) + " only reserved");
}

std::vector<StatisticsFact> FactsOf(const Profile& profile) {
  const SnapshotProgram& program = profile.program;
  const SnapshotTracker& tracker = profile.tracker;
  std::vector<StatisticsFact> facts;
  auto line = [&](const char* name, const std::string& value) { facts.push_back({name, value}); };
  auto count = [&](const Count& c, const Variance& variance) {
    return FormatFigure(c, variance, tracker.sample_bytes);
  };
  const std::vector<std::string> processes = ProcessLines(profile);
  if (!processes.empty()) line("processes", Printable(processes[0]));
  line("program", Printable(program.program));
  if (IsRunKnown(program)) {
    line("pid", std::to_string(program.pid));
    line("command",
         program.command.empty() ? "not in the capture" : Printable(ShellWords(program.command)));
    line("start", FormatUtcTime(program.start_unix_ms));
    line("duration", program.duration_ms != 0 ? FormatDuration(program.duration_ms) : "not known");
    line("end", EndText(program));
  } else if (profile.sources.empty()) {
    line("run", "not known: this is a region; the capture of its run has it");
  }
  if (profile.chosen) line("shown as the peak", profile.chosen->name + profile.chosen->note);
  line("peak", count(profile.peak, profile.variances.peak));
  line("leaked", count(profile.leaked, profile.variances.leaked));
  line("total", count(profile.total, profile.variances.total));
  line("temporary", TemporaryText(profile));
  if (tracker.sample_bytes != 0) line("sampled", SamplingText(tracker.sample_bytes));
  line("RSS at its highest",
       program.rss_peak_bytes != 0 ? FormatBytesExact(program.rss_peak_bytes) : "not known");
  line("mapped", MappedText(profile));
  line("sites", FormatCount(profile.sites.size()));
  if (IsOfFiguresOnly(profile)) {
    line("tracker", kNotByProcess);
    line("over time", kNotByProcess);
    return facts;
  }
  line(CountedInFile(profile) ? "tracker's file" : "tracker's memory",
       FormatBytesExact(tracker.bytes));
  line("dropped events", FormatCount(tracker.dropped_events));
  line("truncated stacks", FormatCount(tracker.truncated_stacks));
  line("incomplete stacks", FormatCount(tracker.incomplete_stacks));
  line("unknown frees", FormatCount(tracker.unknown_frees));
  if (tracker.attached != 0) {
    line("[allocated before attach]",
         fmt::format("{} in {} freed since", FormatBytesExact(tracker.before_attach_bytes),
                     FormatCountOf(tracker.before_attach_frees, "block")));
  }
  line("bound of the peak", FormatBytesExact(tracker.peak_bound_bytes));
  line("in no row", FormatBytesExact(tracker.unattributed_bytes));
  if (profile.timeline.points.empty()) line("over time", "not known: no supervisor watched it");
  return facts;
}

// A power of two: "64 B", "4 KiB".
std::string WholeUnits(uint64_t bytes) {
  size_t unit = 0;
  for (; bytes >= 1024; bytes /= 1024) ++unit;
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::vector<StatisticsRow> SizesOf(const Profile& profile) {
  if (IsOfFiguresOnly(profile)) return {};
  std::vector<StatisticsRow> rows;
  for (const SizeShare& share : profile.sizes) {
    const uint64_t from = RangeOfClass(share.size_class).min_bytes;
    rows.push_back({from <= 1 ? fmt::format("{} B", from)
                              : fmt::format("{} to < {}", WholeUnits(from), WholeUnits(2 * from)),
                    "", share.count});
  }
  const Count untold = Untold(profile.sizes, profile.total);
  if (untold != Count()) rows.push_back({"not known", "", untold, true});
  return rows;
}

std::vector<StatisticsRow> KindsOf(const Profile& profile) {
  Count counts[kAllocatorKinds];
  for (const ProfileSite& site : profile.sites) {
    counts[static_cast<size_t>(site.kind)] += site.total;
  }
  std::vector<StatisticsRow> rows;
  for (size_t i = 0; i < kAllocatorKinds; ++i) {
    if (counts[i] != Count())
      rows.push_back({NameOf(static_cast<AllocatorKind>(i)), "", counts[i]});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const StatisticsRow& a, const StatisticsRow& b) {
    return a.count.bytes > b.count.bytes;
  });
  return rows;
}

std::vector<StatisticsRow> TopPlaces(std::vector<LocationRow>& rows, uint64_t Count::*by) {
  std::stable_sort(rows.begin(), rows.end(), [&](const LocationRow& a, const LocationRow& b) {
    return a.total.*by > b.total.*by;
  });
  std::vector<StatisticsRow> top;
  Count rest;
  for (size_t i = 0; i < rows.size(); ++i) {
    const LocationRow& row = rows[i];
    if (i < kTopPlaces) {
      top.push_back({Printable(row.function),
                     Printable(PlaceOf(row.function, row.file, row.line, row.module)), row.total});
    } else {
      rest += row.total;
    }
  }
  if (rows.size() > kTopPlaces) {
    const size_t others = rows.size() - kTopPlaces;
    top.push_back({fmt::format("others ({})", FormatCountOf(others, "place")), "", rest, true});
  }
  return top;
}

}  // namespace

Statistics StatisticsOf(const Profile& profile) {
  Statistics statistics;
  statistics.facts = FactsOf(profile);
  const std::vector<std::string> processes = ProcessLines(profile);
  for (size_t i = 1; i < processes.size(); ++i) statistics.notes.push_back(processes[i]);
  for (std::string& trust : ExactnessNotes(profile)) statistics.notes.push_back(std::move(trust));
  statistics.memory = MemoryTableOf(profile);
  statistics.total = profile.total;
  statistics.estimates = profile.tracker.sample_bytes != 0;
  statistics.sizes = SizesOf(profile);
  statistics.kinds = KindsOf(profile);
  std::vector<LocationRow> rows = LocationRows(profile, {});
  std::vector<LocationRow> by_blocks = rows;
  statistics.most_bytes = TopPlaces(rows, &Count::bytes);
  statistics.most_blocks = TopPlaces(by_blocks, &Count::allocations);
  return statistics;
}

}  // namespace memprof

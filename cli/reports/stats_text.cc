#include "cli/reports/stats_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "cli/basics/shell_word.h"
#include "cli/reports/exactness.h"
#include "cli/reports/memory_text.h"
#include "cli/reports/rows.h"
#include "cli/reports/timeline_chart.h"
#include "cli/terminal/text_table.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kTopPlaces = 5;
constexpr size_t kNameColumns = 22;
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

std::string NotesText(const Profile& profile) {
  std::string text;
  const auto line = [&](const std::string& note) {
    text += fmt::format("{:<{}}{}\n", "note", kNameColumns, Printable(note));
  };
  const std::vector<std::string> processes = ProcessLines(profile);
  for (size_t i = 1; i < processes.size(); ++i) line(processes[i]);
  for (const std::string& trust : ExactnessNotes(profile)) line(trust);
  return text;
}

std::string FiguresText(const Profile& profile, const TextStyle& style) {
  const SnapshotProgram& program = profile.program;
  const SnapshotTracker& tracker = profile.tracker;
  std::string text;
  auto line = [&](const char* name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<{}}{}\n", name, kNameColumns, value);
  };
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
    return text + NotesText(profile);
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
  text += TimelineChart(profile.timeline, kNameColumns, style);
  return text + NotesText(profile);
}

// Rows of a name, figures and a bar.
class BarTable {
 public:
  BarTable(std::string title, std::string name, const Profile& profile, const TextStyle& style)
      : title_(std::move(title)),
        whole_(profile.total),
        style_(style),
        table_({{std::move(name)},
                {profile.tracker.sample_bytes != 0 ? "≈ blocks" : "blocks", 14, 1},
                {"share", 6},
                {profile.tracker.sample_bytes != 0 ? "≈ bytes" : "bytes", 12, 1},
                {"share", 6}},
               "", style) {}

  // `bar`: the row has one.
  void Add(const Count& count, std::string name, bool bar = true) {
    if (count == Count()) return;
    table_.Add({{std::move(name), FormatCount(count.allocations),
                 FormatShare(count.allocations, whole_.allocations), FormatBytes(count.bytes),
                 FormatShare(count.bytes, whole_.bytes)}});
    drawn_.push_back(bar ? count : Count());
  }

  std::string Text(uint64_t Count::*drawn) {
    uint64_t most = 1;
    for (const Count& count : drawn_) most = std::max(most, count.*drawn);
    const size_t used = table_.Indent();
    const size_t room = style_.width > used + 4 ? std::min(style_.width - used, kLongestBar) : 4;
    for (size_t i = 0; i < drawn_.size(); ++i) {
      const double share = static_cast<double>(drawn_[i].*drawn) / static_cast<double>(most);
      const auto length = static_cast<size_t>(share * static_cast<double>(room) + 0.5);
      for (size_t j = 0; j < length; ++j) table_.row(i).function += "█";
    }
    return "\n" + Bold(title_, style_) + "\n" + table_.Text();
  }

 private:
  static constexpr size_t kLongestBar = 40;

  const std::string title_;
  const Count whole_;
  const TextStyle style_;
  TextTable table_;
  std::vector<Count> drawn_;  // of each row; 0: no bar
};

// A power of two: "64 B", "4 KiB".
std::string WholeUnits(uint64_t bytes) {
  size_t unit = 0;
  for (; bytes >= 1024; bytes /= 1024) ++unit;
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string HistogramText(const Profile& profile, const TextStyle& style) {
  if (IsOfFiguresOnly(profile)) return {};
  BarTable table("Allocations by size", "size", profile, style);
  for (const SizeShare& share : profile.sizes) {
    const uint64_t from = RangeOfClass(share.size_class).min_bytes;
    table.Add(share.count, from <= 1
                               ? fmt::format("{} B", from)
                               : fmt::format("{} to < {}", WholeUnits(from), WholeUnits(2 * from)));
  }
  table.Add(Untold(profile.sizes, profile.total), "not known", false);
  table.Add(profile.total, "total", false);
  return table.Text(&Count::allocations);
}

std::string KindsText(const Profile& profile, const TextStyle& style) {
  Count counts[kAllocatorKinds];
  for (const ProfileSite& site : profile.sites) {
    counts[static_cast<size_t>(site.kind)] += site.total;
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < kAllocatorKinds; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return counts[a].bytes > counts[b].bytes; });
  BarTable table("Allocations by function", "function", profile, style);
  for (const size_t i : order) table.Add(counts[i], NameOf(static_cast<AllocatorKind>(i)));
  table.Add(profile.total, "total", false);
  return table.Text(&Count::bytes);
}

std::string PlaceText(const LocationRow& row, size_t columns) {
  const std::string place =
      ShortenedFront(Printable(PlaceOf(row.function, row.file, row.line, row.module)), columns / 2);
  if (place.empty()) return Shortened(Printable(row.function), columns);
  const std::string function = Shortened(Printable(row.function), columns - Columns(place) - 2);
  return function + "  " + place;
}

std::string TopPlacesText(const Profile& profile, const char* title, uint64_t Count::*by,
                          const TextStyle& style) {
  std::vector<LocationRow> rows = LocationRows(profile, {});
  std::stable_sort(rows.begin(), rows.end(), [&](const LocationRow& a, const LocationRow& b) {
    return a.total.*by > b.total.*by;
  });
  const std::string sign = profile.tracker.sample_bytes != 0 ? "≈ " : "";
  TextTable table({{sign + "blocks", 14, 1}, {sign + "bytes", 12, 1}, {"share", 6}},
                  "function  place", style);
  auto line = [&](const Count& count, std::string name) {
    table.Add({{FormatCount(count.allocations), FormatBytes(count.bytes),
                FormatShare(count.*by, profile.total.*by)},
               std::move(name)});
  };
  Count rest;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < kTopPlaces) {
      line(rows[i].total, PlaceText(rows[i], table.Room()));
    } else {
      rest += rows[i].total;
    }
  }
  if (rows.size() > kTopPlaces) {
    const size_t others = rows.size() - kTopPlaces;
    line(rest, fmt::format("others ({})", FormatCountOf(others, "place")));
  }
  line(profile.total, "total");
  return "\n" + Bold(title, style) + "\n" + table.Text();
}

}  // namespace

std::string StatsText(const Profile& profile, const TextStyle& style) {
  return FiguresText(profile, style) + MemoryText(profile, style) + HistogramText(profile, style) +
         KindsText(profile, style) +
         TopPlacesText(profile, "Allocated most bytes", &Count::bytes, style) +
         TopPlacesText(profile, "Allocated most often", &Count::allocations, style);
}

}  // namespace memprof

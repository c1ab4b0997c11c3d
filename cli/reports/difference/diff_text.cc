#include "cli/reports/difference/diff_text.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "cli/reports/exactness.h"
#include "cli/reports/rows.h"
#include "cli/reports/symbol_notes.h"
#include "cli/terminal/text_table.h"
#include "core/base_name.h"
#include "core/frame_kind.h"
#include "core/units.h"

namespace memprof {
namespace {

// The rows' figures: change, blocks, before, after.
class ChangeTable {
 public:
  ChangeTable(Figure figure, bool estimates, const TextStyle& style)
      : figure_(figure), table_(Headings(estimates ? "≈ " : ""), style) {}

  void Add(const DiffFigures& before, const DiffFigures& after, std::string function,
           std::string place = {}, std::string callers = {}) {
    const Count& old = FigureOf(before, figure_);
    const Count& now = FigureOf(after, figure_);
    const Change change = ChangeOf(old, now);
    const Count error = StandardError(ChangeVariance(before, after, figure_));
    auto side = [&](const Count& count, const DiffFigures& figures) {
      const Variance& variance = FigureOf(figures.variances, figure_);
      return FormatBytesWithError(count.bytes, StandardError(variance).bytes);
    };
    table_.Add({{FormatBytesChange(change.bytes, error.bytes),
                 FormatCountChange(change.allocations, error.allocations), side(old, before),
                 side(now, after)},
                std::move(function),
                std::move(place),
                std::move(callers),
                change.bytes != 0 ? change.bytes : change.allocations});
  }

  std::string Text() const { return table_.Text(); }

 private:
  static std::vector<std::string> Headings(const std::string& about) {
    return {about + "change", about + "blocks", about + "before", about + "after"};
  }

  const Figure figure_;
  TextTable table_;
};

std::string PlaceText(const DiffRow& row) {
  if (row.function.empty()) return {};
  return Printable(PlaceOf(row.function, row.file, row.line, row.module));
}

void Sum(DiffFigures& sum, const DiffFigures& more) {
  AddFigures(sum, more);
  sum.variances += more.variances;
}

std::string RowsText(const std::vector<DiffRow>& rows, const DiffFigures& before,
                     const DiffFigures& after, bool estimates, const DiffTextOptions& options) {
  const char* what = NameOf(options.by);
  ChangeTable table(options.figure, estimates, options.style);
  DiffFigures rest[2][2] = {};  // others, unchanged; before, after
  size_t counts[2] = {};
  size_t shown = 0;
  for (const DiffRow& row : rows) {
    const bool same = FigureOf(row.before, options.figure) == FigureOf(row.after, options.figure);
    if (same || (options.rows != 0 && shown == options.rows)) {
      ++counts[same];
      Sum(rest[same][0], row.before);
      Sum(rest[same][1], row.after);
      continue;
    }
    ++shown;
    const std::string_view name = row.function.empty() ? BaseName(row.module) : row.function;
    table.Add(row.before, row.after, Printable(name), PlaceText(row), CallersText(row));
  }
  if (counts[0] != 0) {
    table.Add(rest[0][0], rest[0][1], fmt::format("others ({})", FormatCountOf(counts[0], what)));
  }
  if (counts[1] != 0) {
    table.Add(rest[1][0], rest[1][1],
              fmt::format("unchanged ({})", FormatCountOf(counts[1], what)));
  }
  table.Add(before, after, "total");
  return table.Text();
}

std::string NotesText(std::string_view head, const Profile& profile, const TextStyle& style) {
  std::string text;
  for (const std::string& note : GroupedNotes(profile.notes)) {
    text += Dim(std::string(head) + Wrapped(Printable(note), head.size(), style.width), style);
  }
  return text.empty() ? text : "\n" + text;
}

std::string HeadText(const char* name, const DiffSide& side, const TextStyle& style) {
  const SnapshotProgram& program = side.profile->program;
  const std::string head =
      IsRunKnown(program) ? fmt::format("{}: {}, pid {}, {}", Printable(side.name),
                                        Printable(program.program), program.pid, RunText(program))
                          : fmt::format("{}: a region", Printable(side.name));
  std::string text = Bold(PaddedRight(name, 8), style) + Wrapped(head, 8, style.width);
  if (const uint64_t sample = side.profile->tracker.sample_bytes; sample != 0) {
    text += std::string(8, ' ') + Wrapped("sampled: " + SamplingText(sample), 8, style.width);
  }
  for (const std::string& line : ProcessLines(*side.profile)) {
    text += std::string(8, ' ') + Wrapped("processes: " + Printable(line), 8, style.width);
  }
  for (const std::string& doubt : ExactnessNotes(*side.profile)) {
    text += std::string(8, ' ') + Wrapped("note: " + Printable(doubt), 8, style.width);
  }
  if (!side.note.empty()) {
    text += std::string(8, ' ') + Wrapped("note: " + Printable(side.note), 8, style.width);
  }
  return text;
}

std::string TotalsText(const Profile& old_profile, const Profile& new_profile, bool estimates,
                       const TextStyle& style) {
  constexpr size_t kNames = 9;
  const DiffFigures before = FiguresOf(old_profile);
  const DiffFigures after = FiguresOf(new_profile);
  std::string text;
  const char* about = estimates ? "≈ " : "";
  for (const Figure figure : KnownFigures(old_profile, new_profile)) {
    const Count& old = FigureOf(before, figure);
    const Count& now = FigureOf(after, figure);
    const Change change = ChangeOf(old, now);
    const Count error = StandardError(ChangeVariance(before, after, figure));
    const std::string changed = FormatBytesChange(change.bytes, error.bytes);
    const std::string line =
        fmt::format("{}{} → {}, {} ({}), {} blocks", about, FormatBytes(old.bytes),
                    FormatBytes(now.bytes), changed, FormatRelativeChange(old.bytes, now.bytes),
                    FormatCountChange(change.allocations, error.allocations));
    // The escape that ends a colour comes before the line's end.
    std::string wrapped = Wrapped(line, kNames + 4, style.width);
    wrapped.pop_back();
    const char* name = new_profile.chosen && figure == Figure::kPeak ? "live" : NameOf(figure);
    text += "  " + PaddedRight(name, kNames + 2) + Coloured(wrapped, change.bytes, style) + "\n";
  }
  return text;
}

}  // namespace

std::string CallersText(const DiffRow& row) {
  std::string text;
  std::string last;
  for (size_t i = row.location + 1; i < row.stack.size(); ++i) {
    const DiffFrame& frame = row.stack[i];
    if (ClassifyFrame(frame.function, frame.module) == FrameKind::kSystem) continue;
    std::string name = Shortened(Printable(frame.function), 40);
    if (name == last) continue;  // recursion, once
    text += (text.empty() ? "← " : " ← ") + name;
    last = std::move(name);
  }
  return text;
}

std::string FormatBytesChange(int64_t bytes, uint64_t error) {
  const uint64_t value =
      bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  return (bytes < 0 ? "-" : bytes > 0 ? "+" : "") + FormatBytesWithError(value, error);
}

std::string FormatCountChange(int64_t count, uint64_t error) {
  const uint64_t value =
      count < 0 ? uint64_t{0} - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  return (count < 0 ? "-" : count > 0 ? "+" : "") + FormatCountWithError(value, error);
}

std::string FormatRelativeChange(uint64_t before, uint64_t after) {
  if (before == after) return "unchanged";
  if (before == 0) return "new";
  if (after == 0) return "gone";
  const double old = static_cast<double>(before);
  return fmt::format("{:+.1f}%", 100 * (static_cast<double>(after) - old) / old);
}

std::string DiffText(const DiffSide& before, const DiffSide& after,
                     const DiffTextOptions& options) {
  const TextStyle& style = options.style;
  const DiffFigures old = FiguresOf(*before.profile);
  const DiffFigures now = FiguresOf(*after.profile);
  const bool estimates =
      before.profile->tracker.sample_bytes != 0 || after.profile->tracker.sample_bytes != 0;
  const auto moment = [](const DiffSide& side) {
    return side.profile->chosen ? side.profile->chosen->name : std::string("the peak");
  };
  const std::string live =
      moment(before) == moment(after)
          ? "Live at " + moment(after)
          : fmt::format("Live at {}, then at {}", moment(before), moment(after));
  const std::string titles[] = {live, "Never freed", "Allocated in all", "Temporary"};
  std::string text = HeadText("before", before, style) + HeadText("after", after, style) + "\n" +
                     TotalsText(*before.profile, *after.profile, estimates, style) + "\n";
  text += Bold(fmt::format("{}: what changed, by {}", titles[static_cast<size_t>(options.figure)],
                           NameOf(options.by)),
               style) +
          "\n";
  text +=
      RowsText(DiffRows(*before.profile, *after.profile, options.by, options.figure, options.sort),
               old, now, estimates, options);
  if (before.profile->notes == after.profile->notes) {
    return text + NotesText("symbols: ", *after.profile, style);
  }
  return text + NotesText("symbols before: ", *before.profile, style) +
         NotesText("symbols after: ", *after.profile, style);
}

}  // namespace memprof

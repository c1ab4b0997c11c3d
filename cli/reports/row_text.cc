#include "cli/reports/row_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/terminal/text_table.h"
#include "core/base_name.h"
#include "core/frame_kind.h"
#include "core/profile/location.h"
#include "core/profile/runtime_leaks.h"
#include "core/tree/path_to_root.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kWide = 140;  // columns: room for folders

// The rows that are shown, and the sum of the others.
struct Selection {
  std::vector<const LocationRow*> shown;
  size_t hidden = 0;
  Count rest, rest_total;
  Variance rest_variance;
};

Selection Select(const std::vector<LocationRow>& rows, const RowTextOptions& options) {
  const bool by_figure = options.sort == SortKey::kBytes || options.sort == SortKey::kAllocations;
  Selection selection;
  const LocationRow* runtime = nullptr;
  for (const LocationRow& row : rows) {
    const Count& figure = FigureOf(row, options.figure);
    const bool empty = figure == Count() && (by_figure || row.total == Count());
    if (!empty && row.function == kRuntimeRow) {
      runtime = &row;
    } else if (!empty && (options.rows == 0 || selection.shown.size() < options.rows)) {
      selection.shown.push_back(&row);
    } else {
      ++selection.hidden;
      selection.rest += figure;
      selection.rest_total += row.total;
      selection.rest_variance += FigureOf(row.variances, options.figure);
    }
  }
  // Comes after the rows that somebody can do something about.
  if (runtime != nullptr) selection.shown.push_back(runtime);
  return selection;
}

const char* NothingOf(Figure figure) {
  switch (figure) {
    case Figure::kLeaked:
      return ", all freed";
    case Figure::kTemporary:
      return ", none temporary";
    case Figure::kTotal:
      return ", nothing allocated";
    case Figure::kPeak:
      break;
  }
  return ", none then";
}

const char* HeadingOf(Figure figure) {
  switch (figure) {
    case Figure::kLeaked:
      return "leaked";
    case Figure::kTemporary:
      return "temporary";
    case Figure::kTotal:
      return "allocated";
    case Figure::kPeak:
      break;
  }
  return "peak";
}

// The rows' figures: the chosen one, its share of the whole, its blocks, and the total.
class RowTable {
 public:
  RowTable(const char* figure, uint64_t whole_bytes, bool estimates, bool modules,
           const TextStyle& style)
      : whole_bytes_(whole_bytes),
        table_(Headings(figure, estimates ? "≈ " : ""), style,
               {"function", "place", modules ? "module" : ""}) {}

  void Add(const Count& figure, const Variance& variance, const Count& total, std::string function,
           std::string place = {}, std::string module = {}, std::string below = {}) {
    TextTable::Row row;
    row.figures = {FormatBytesWithError(figure.bytes, StandardError(variance).bytes),
                   FormatShare(figure.bytes, whole_bytes_), FormatCount(figure.allocations),
                   FormatBytes(total.bytes)};
    row.function = std::move(function);
    row.place = std::move(place);
    row.module = std::move(module);
    row.below = std::move(below);
    table_.Add(std::move(row));
  }

  TextTable& table() { return table_; }

 private:
  static std::vector<std::string> Headings(const char* figure, const std::string& about) {
    return {about + figure, "share", about + "blocks", about + "total"};
  }

  const uint64_t whole_bytes_;
  TextTable table_;
};

// Adds the callers of a row below it; the remaining ones are one line.
void AddCallers(const LocationRow& row, Figure which, size_t folders, RowTable& table) {
  constexpr size_t kShown = 6;
  Count rest, rest_total;
  Variance rest_variance;
  size_t shown = 0;
  size_t hidden = 0;
  for (const CallerRow& caller : row.callers) {
    const Count& figure = FigureOf(caller, which);
    const Variance& variance = FigureOf(caller.variances, which);
    // Shows one more instead of "1 more caller".
    if (shown < kShown || row.callers.size() == kShown + 1) {
      ++shown;
      table.Add(
          figure, variance, caller.total, "  ← " + Printable(caller.function),
          Printable(PlaceOf(caller.function, caller.file, caller.line, caller.module, folders)));
      continue;
    }
    ++hidden;
    rest += figure;
    rest_total += caller.total;
    rest_variance += variance;
  }
  if (hidden == 0) return;
  table.Add(rest, rest_variance, rest_total,
            fmt::format("  ← {} more callers", FormatCount(hidden)));
}

// What a row of leaks says below itself.
std::string MarkOf(const LocationRow& row, Figure figure) {
  return figure == Figure::kLeaked ? RunningThreadsText(row.leaked, row.of_running_threads) : "";
}

std::string OthersText(const Selection& selection, Figure figure) {
  const char* all = selection.rest != Count() ? "" : NothingOf(figure);
  return fmt::format("others ({}{})", FormatCountOf(selection.hidden, "place"), all);
}

}  // namespace

std::string CallersText(const Profile& profile, uint32_t leaf, size_t columns) {
  if (leaf == 0) return {};
  ProfileSite site;
  site.node = leaf;
  std::string text;
  std::string last;
  const uint32_t above = profile.nodes[LocationOf(profile, site)].parent;
  for (const uint32_t node : PathToRoot(profile.nodes, above)) {
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    const std::string_view module = frame.module < profile.modules.size()
                                        ? std::string_view(profile.modules[frame.module].path)
                                        : std::string_view();
    // The frames of a program's start explain nothing.
    if (ClassifyFrame(frame.function, module) == FrameKind::kSystem) continue;
    std::string name = Shortened(Printable(frame.function), 40);
    if (name == last) continue;  // recursion, once
    const std::string more = (text.empty() ? "← " : " ← ") + name;
    constexpr std::string_view kMore = " ← …";
    if (Columns(text) + Columns(more) + Columns(kMore) > columns) {
      // a single name is truncated rather than left out
      text += text.empty() ? more : std::string(kMore);
      break;
    }
    text += more;
    last = std::move(name);
  }
  return Shortened(text, columns);
}

std::string RowText(const Profile& profile, const std::vector<LocationRow>& rows,
                    const RowTextOptions& options) {
  const Selection selection = Select(rows, options);
  const Count& whole = FigureOf(profile, options.figure);
  const size_t folders = options.style.width >= kWide ? 3 : 0;
  RowTable table(
      profile.chosen && options.figure == Figure::kPeak ? "live" : HeadingOf(options.figure),
      whole.bytes, profile.tracker.sample_bytes != 0, options.modules, options.style);
  for (const LocationRow* row : selection.shown) {
    table.Add(FigureOf(*row, options.figure), FigureOf(row->variances, options.figure), row->total,
              Printable(row->function),
              Printable(PlaceOf(row->function, row->file, row->line, row->module, folders)),
              Printable(BaseName(row->module)), MarkOf(*row, options.figure));
    AddCallers(*row, options.figure, folders, table);
  }
  if (selection.hidden != 0) {
    table.Add(selection.rest, selection.rest_variance, selection.rest_total,
              OthersText(selection, options.figure));
  }
  table.Add(whole, FigureOf(profile.variances, options.figure), profile.total, "total");

  TextTable& text = table.table();
  const size_t columns = text.Room() - 2;
  // Rows with stacks below them have no callers between them.
  for (size_t i = 0; options.stacks && i < selection.shown.size(); ++i) {
    const LocationRow& row = *selection.shown[i];
    if (row.function == kRuntimeRow) continue;
    std::string& below = text.row(i).below;
    const size_t used = below.empty() ? 0 : Columns(below) + 2;
    if (used >= columns) continue;
    const std::string callers = CallersText(profile, row.heaviest_node, columns - used);
    if (!below.empty() && !callers.empty()) below += "; ";
    below += callers;
  }
  return text.Text();
}

}  // namespace memprof

#include "cli/reports/row_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/terminal/row_table.h"
#include "core/base_name.h"
#include "core/frame_kind.h"
#include "core/profile/location.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kWide = 140;  // columns: room for folders

// What of the rows is shown, and the sum of what is not.
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
  // Below what can be done something about.
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

// The callers of one row, below it. What they are more than these is one line.
void AddCallers(const LocationRow& row, Figure which, size_t folders, RowTable& table) {
  constexpr size_t kShown = 6;
  auto error = [&](const Variance& variance) { return StandardError(variance).bytes; };
  Count rest, rest_total;
  Variance rest_variance;
  size_t shown = 0;
  size_t hidden = 0;
  for (const CallerRow& caller : row.callers) {
    const Count& figure = FigureOf(caller, which);
    const Variance& variance = FigureOf(caller.variances, which);
    // One more than fits is shown instead of "1 more caller".
    if (shown < kShown || row.callers.size() == kShown + 1) {
      ++shown;
      table.Add(
          figure, error(variance), caller.total, "  ← " + Printable(caller.function),
          Printable(PlaceOf(caller.function, caller.file, caller.line, caller.module, folders)));
      continue;
    }
    ++hidden;
    rest += figure;
    rest_total += caller.total;
    rest_variance += variance;
  }
  if (hidden == 0) return;
  table.Add(rest, error(rest_variance), rest_total,
            fmt::format("  ← {} more callers", FormatCount(hidden)));
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
  for (uint32_t node = profile.nodes[LocationOf(profile, site)].parent; node != 0;
       node = profile.nodes[node].parent) {
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    const std::string_view module = frame.module < profile.modules.size()
                                        ? std::string_view(profile.modules[frame.module].path)
                                        : std::string_view();
    // How a program starts tells nothing.
    if (ClassifyFrame(frame.function, module) == FrameKind::kSystem) continue;
    std::string name = Shortened(Printable(frame.function), 40);
    if (name == last) continue;  // recursion, once
    const std::string more = (text.empty() ? "← " : " ← ") + name;
    if (Columns(text) + Columns(more) + 2 > columns) {
      text += text.empty() ? more : " ←";  // a name alone is cut rather than left out
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
  const bool estimates = profile.tracker.sample_bytes != 0;
  auto error = [](const Variance& variance) { return StandardError(variance).bytes; };
  RowTable table(
      profile.chosen && options.figure == Figure::kPeak ? "live" : HeadingOf(options.figure),
      whole.bytes, estimates, options.style);
  for (const LocationRow* row : selection.shown) {
    table.Add(FigureOf(*row, options.figure), error(FigureOf(row->variances, options.figure)),
              row->total, Printable(row->function),
              Printable(PlaceOf(row->function, row->file, row->line, row->module, folders)),
              Printable(BaseName(row->module)));
    AddCallers(*row, options.figure, folders, table);
  }
  if (selection.hidden != 0) {
    table.Add(selection.rest, error(selection.rest_variance), selection.rest_total,
              OthersText(selection, options.figure));
  }
  table.Add(whole, error(FigureOf(profile.variances, options.figure)), profile.total, "total");
  table.LayOut(options.modules);

  std::string text = table.Headings();
  for (size_t i = 0; i < table.size(); ++i) {
    text += table.Line(i);
    if (!options.stacks || i >= selection.shown.size()) continue;  // rows have no callers then
    const LocationRow& row = *selection.shown[i];
    if (row.function == kRuntimeRow) continue;
    const std::string callers = CallersText(profile, row.heaviest_node, table.names() - 2);
    if (!callers.empty()) {
      text += std::string(table.indent() + 2, ' ') + Dim(callers, options.style) + "\n";
    }
  }
  return text;
}

}  // namespace memprof

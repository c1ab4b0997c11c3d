#include "cli/reports/row_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/frame_kind.h"
#include "core/location.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kWide = 140;  // columns: room for folders

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The columns of one row, ready to print.
struct Cells {
  std::string bytes = {}, share = {}, count = {}, total = {};
  std::string function = {}, place = {}, module = {};
};

// "← caller ← its caller …" of the row's heaviest stack, from the location outwards.
std::string Callers(const Profile& profile, const LocationRow& row, size_t columns) {
  uint32_t node = row.heaviest_node;
  if (node == 0 || row.function == kRuntimeRow) return {};
  ProfileSite site;
  site.node = node;
  std::string text;
  std::string last;
  for (node = profile.nodes[LocationOf(profile, site)].parent; node != 0;
       node = profile.nodes[node].parent) {
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    const std::string_view module = frame.module < profile.modules.size()
                                        ? std::string_view(profile.modules[frame.module].path)
                                        : std::string_view();
    // How a program starts tells nothing.
    if (ClassifyFrame(frame.function, module) == FrameKind::kSystem) continue;
    std::string name = Shortened(Printable(frame.function), 40);
    if (name == last) continue;  // recursion, once
    const std::string more = "← " + name + " ";
    if (Columns(text) + Columns(more) > columns) {
      text += "←";
      break;
    }
    text += more;
    last = std::move(name);
  }
  return text;
}

// What of the rows is shown, and the sum of what is not.
struct Selection {
  std::vector<const LocationRow*> shown;
  size_t hidden = 0;
  Count rest, rest_total;
};

Selection Select(const std::vector<LocationRow>& rows, const RowTextOptions& options) {
  const bool by_figure = options.sort == SortKey::kBytes || options.sort == SortKey::kAllocations;
  Selection selection;
  const LocationRow* runtime = nullptr;
  for (const LocationRow& row : rows) {
    const Count& figure = FigureOf(row, options.leaks);
    const bool empty = figure == Count() && (by_figure || row.total == Count());
    if (!empty && row.function == kRuntimeRow) {
      runtime = &row;
    } else if (!empty && (options.rows == 0 || selection.shown.size() < options.rows)) {
      selection.shown.push_back(&row);
    } else {
      ++selection.hidden;
      selection.rest += figure;
      selection.rest_total += row.total;
    }
  }
  // Below what can be done something about.
  if (runtime != nullptr) selection.shown.push_back(runtime);
  return selection;
}

std::string OthersText(const Selection& selection, bool leaks) {
  const char* all = selection.rest != Count() ? "" : leaks ? ", all freed" : ", none at the peak";
  return fmt::format("others ({} {}{})", FormatCount(selection.hidden),
                     selection.hidden == 1 ? "place" : "places", all);
}

class Table {
 public:
  Table(const RowTextOptions& options, uint64_t whole_bytes)
      : options_(options), whole_bytes_(whole_bytes), headings_{options.leaks ? "leaked" : "peak",
                                                                "share",
                                                                "blocks",
                                                                "total",
                                                                "function",
                                                                "place",
                                                                "module"} {}

  void Add(const Count& figure, const Count& total, std::string function, std::string place = {},
           std::string module = {}) {
    rows_.push_back({FormatBytes(figure.bytes), FormatShare(figure.bytes, whole_bytes_),
                     FormatCount(figure.allocations), FormatBytes(total.bytes), std::move(function),
                     std::move(place), std::move(module)});
  }

  // Pre: all rows were added. Figures have the columns they need; the names
  // share the rest.
  void LayOut() {
    bytes_ = Widest(&Cells::bytes);
    share_ = Widest(&Cells::share);
    count_ = Widest(&Cells::count);
    total_ = Widest(&Cells::total);
    indent_ = bytes_ + share_ + count_ + total_ + 8;
    const size_t width = options_.style.width;
    names_ = width > indent_ + kLeastNames ? width - indent_ : kLeastNames;
    size_t left = names_;
    if (options_.modules && left >= kLeastWithModules) {
      module_ = std::min(Widest(&Cells::module), left / 4);
      left -= module_ + 2;
    }
    place_ = std::min(Widest(&Cells::place), left / 2);
    function_ = std::min(Widest(&Cells::function), left - place_ - 2);
  }

  std::string Headings() const { return Dim(Text(headings_), options_.style) + "\n"; }
  std::string Line(size_t row) const { return Text(rows_[row]) + "\n"; }

  size_t size() const { return rows_.size(); }
  size_t indent() const { return indent_; }
  size_t names() const { return names_; }

 private:
  static constexpr size_t kLeastNames = 24;
  static constexpr size_t kLeastWithModules = 80;

  std::string Text(const Cells& cells) const {
    const std::string function = Shortened(cells.function, function_);
    const std::string place = ShortenedFront(cells.place, place_);
    std::string text = fmt::format("{}  {}  {}  {}  ", PaddedLeft(cells.bytes, bytes_),
                                   PaddedLeft(cells.share, share_), PaddedLeft(cells.count, count_),
                                   PaddedLeft(cells.total, total_));
    // Not padded before the end of the line, but where a column follows.
    const bool has_module = module_ != 0 && !cells.module.empty();
    const bool has_place = !place.empty() || has_module;
    text += &cells == &headings_ ? function : Bold(function, options_.style);
    if (has_place) text += std::string(function_ - Columns(function) + 2, ' ') + place;
    if (has_module) {
      text += std::string(place_ - Columns(place) + 2, ' ') + Shortened(cells.module, module_);
    }
    return text;
  }

  size_t Widest(std::string Cells::*column) const {
    size_t widest = Columns(headings_.*column);
    for (const Cells& row : rows_) widest = std::max(widest, Columns(row.*column));
    return widest;
  }

  const RowTextOptions& options_;
  const uint64_t whole_bytes_;
  const Cells headings_;
  std::vector<Cells> rows_;
  size_t bytes_ = 0, share_ = 0, count_ = 0, total_ = 0;
  size_t indent_ = 0, names_ = 0;
  size_t function_ = 0, place_ = 0, module_ = 0;
};

}  // namespace

std::string RowText(const Profile& profile, const std::vector<LocationRow>& rows,
                    const RowTextOptions& options) {
  const Selection selection = Select(rows, options);
  const Count& whole = options.leaks ? profile.leaked : profile.peak;
  const size_t folders = options.style.width >= kWide ? 3 : 0;
  Table table(options, whole.bytes);
  for (const LocationRow* row : selection.shown) {
    table.Add(FigureOf(*row, options.leaks), row->total, Printable(row->function),
              Printable(PlaceOf(row->file, row->line, row->module, folders)),
              Printable(BaseName(row->module)));
  }
  if (selection.hidden != 0) {
    table.Add(selection.rest, selection.rest_total, OthersText(selection, options.leaks));
  }
  table.Add(whole, profile.total, "total");
  table.LayOut();

  std::string text = table.Headings();
  for (size_t i = 0; i < table.size(); ++i) {
    text += table.Line(i);
    if (!options.stacks || i >= selection.shown.size()) continue;
    const std::string callers = Callers(profile, *selection.shown[i], table.names() - 2);
    if (!callers.empty()) {
      text += std::string(table.indent() + 2, ' ') + Dim(callers, options.style) + "\n";
    }
  }
  return text;
}

}  // namespace memprof

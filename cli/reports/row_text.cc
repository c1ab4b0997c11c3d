#include "cli/reports/row_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/frame_kind.h"
#include "core/location.h"
#include "core/units.h"

namespace memprof {
namespace {

struct Cells {
  std::string bytes, share, count, total;
};

Cells CellsOf(const Count& figure, const Count& total, uint64_t whole) {
  return {FormatBytes(figure.bytes), FormatShare(figure.bytes, whole),
          FormatCount(figure.allocations), FormatBytes(total.bytes)};
}

// "← caller ← its caller …" of the row's heaviest stack, from the location outwards.
std::string Callers(const Profile& profile, const LocationRow& row, size_t columns) {
  uint32_t node = row.heaviest_node;
  if (node == 0 || row.runtime) return {};
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

size_t Widest(const std::vector<Cells>& cells, std::string Cells::*column, size_t least) {
  for (const Cells& row : cells) least = std::max(least, Columns(row.*column));
  return least;
}

}  // namespace

std::string RowText(const Profile& profile, const std::vector<LocationRow>& all,
                    const RowTextOptions& options) {
  std::vector<const LocationRow*> shown;
  Count rest;
  Count rest_total;
  size_t hidden = 0;
  for (const LocationRow& row : all) {
    const Count& figure = FigureOf(row, options.leaks);
    if (figure == Count() &&
        (options.leaks || row.total == Count() || shown.size() >= options.rows)) {
      rest_total += row.total;
      continue;  // nothing to sum
    }
    if (options.rows == 0 || shown.size() < options.rows) {
      shown.push_back(&row);
    } else {
      ++hidden;
      rest += figure;
      rest_total += row.total;
    }
  }
  const Count whole = options.leaks ? profile.leaked : profile.peak;
  std::vector<Cells> cells;
  for (const LocationRow* row : shown) {
    cells.push_back(CellsOf(FigureOf(*row, options.leaks), row->total, whole.bytes));
  }
  if (hidden != 0) cells.push_back(CellsOf(rest, rest_total, whole.bytes));
  cells.push_back(CellsOf(whole, profile.total, whole.bytes));

  const size_t bytes = Widest(cells, &Cells::bytes, 5);
  const size_t share = Widest(cells, &Cells::share, 5);
  const size_t count = Widest(cells, &Cells::count, 6);
  const size_t total = Widest(cells, &Cells::total, 5);
  const size_t indent = bytes + share + count + total + 8;
  const size_t names = options.style.width > indent + 20 ? options.style.width - indent : 20;
  auto line = [&](const Cells& c, const std::string& name) {
    return fmt::format("{}  {}  {}  {}  {}\n", PaddedLeft(c.bytes, bytes),
                       PaddedLeft(c.share, share), PaddedLeft(c.count, count),
                       PaddedLeft(c.total, total), name);
  };

  std::string text =
      Dim(line({options.leaks ? "leaked" : "peak", "share", "blocks", "total"}, "place"),
          options.style);
  for (size_t i = 0; i < shown.size(); ++i) {
    const LocationRow& row = *shown[i];
    const std::string place = Printable(PlaceOf(row.file, row.line, row.module));
    const size_t room = names > Columns(place) + 12 ? names - Columns(place) - 2 : 10;
    const std::string name = Shortened(Printable(row.function), room);
    text += line(cells[i], place.empty() ? Bold(name, options.style)
                                         : Bold(name, options.style) + "  " + place);
    if (!options.stacks) continue;
    const std::string callers = Callers(profile, row, names - 2);
    if (!callers.empty()) {
      text += std::string(indent + 2, ' ') + Dim(callers, options.style) + "\n";
    }
  }
  if (hidden != 0) {
    text += line(cells[shown.size()], fmt::format("others ({} places)", FormatCount(hidden)));
  }
  return text + line(cells.back(), "total");
}

}  // namespace memprof

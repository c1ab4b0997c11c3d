#include <fmt/format.h>

#include "cli/reports/mappings/mapping_rows.h"
#include "cli/reports/rows.h"
#include "cli/terminal/text_table.h"
#include "core/units.h"

namespace memprof {
namespace {

const char* TitleOf(Figure figure) {
  switch (figure) {
    case Figure::kLeaked:
      return "Mapped by the program and never unmapped, by place";
    case Figure::kTotal:
      return "Mapped by the program in all, by place";
    default:
      return "Mapped by the program when it had mapped most, by place";
  }
}

std::string WhatText(const MappingRow& row) {
  if (row.kind == MappingKind::kFile) {
    return row.mapped_file.empty() ? "a file whose name isn't known" : row.mapped_file;
  }
  return row.kind == MappingKind::kAnonymous ? "" : NameOf(row.kind);
}

std::string TableText(const std::vector<MappingRow>& rows, bool reserved, Figure figure,
                      size_t limit, const TextStyle& style) {
  Count sum, sum_total, rest, rest_total;
  for (const MappingRow& row : rows) {
    if (row.reserved != reserved) continue;
    sum += ShownOf(row, figure);
    sum_total += row.total;
  }
  TextTable table({NameOf(figure), "share", "mappings", "total"}, style);
  auto add = [&](const Count& count, const Count& total, std::string function, std::string place,
                 std::string below) {
    table.Add({{FormatBytes(count.bytes), FormatShare(count.bytes, sum.bytes),
                FormatCount(count.allocations), FormatBytes(total.bytes)},
               std::move(function),
               std::move(place),
               std::move(below)});
  };
  size_t shown = 0, hidden = 0;
  for (const MappingRow& row : rows) {
    if (row.reserved != reserved) continue;
    const Count& count = ShownOf(row, figure);
    if (count == Count() || (limit != 0 && shown == limit)) {
      ++hidden;
      rest += count;
      rest_total += row.total;
      continue;
    }
    ++shown;
    add(count, row.total, Printable(row.function),
        Printable(PlaceOf(row.function, row.file, row.line, row.module)), Printable(WhatText(row)));
  }
  if (hidden != 0) {
    add(rest, rest_total, fmt::format("others ({})", FormatCountOf(hidden, "place")), "", "");
  }
  add(sum, sum_total, "total", "", "");
  return table.Text();
}

}  // namespace

std::string MappingsText(const Profile& profile, Figure figure, size_t limit,
                         const TextStyle& style) {
  const std::vector<MappingRow> rows = MappingRows(profile, figure);
  std::string text = Bold(TitleOf(figure), style) + "\n";
  text += TableText(rows, false, figure, limit, style);
  if (!rows.empty() && rows.back().reserved) {
    text += "\n" + Bold("Address space only (PROT_NONE, MAP_NORESERVE), in no other total", style) +
            "\n" + TableText(rows, true, figure, limit, style);
  }
  if (profile.mappings.lost_events != 0) {
    text += fmt::format("note: {} could not be followed\n",
                        FormatCountOf(profile.mappings.lost_events, "call"));
  }
  if (!profile.mappings.followed) {
    text += "note: mappings weren't followed in all of the captures\n";
  }
  return text;
}

}  // namespace memprof

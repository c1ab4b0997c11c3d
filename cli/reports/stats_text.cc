#include "cli/reports/stats_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/reports/exactness.h"
#include "cli/reports/memory_text.h"
#include "cli/reports/statistics.h"
#include "cli/reports/timeline_chart.h"
#include "cli/terminal/text_table.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kNameColumns = 22;

std::string FactsText(const Profile& profile, const Statistics& statistics,
                      const TextStyle& style) {
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value) {
    text += fmt::format("{:<{}}{}", name, kNameColumns, Wrapped(value, kNameColumns, style.width));
  };
  for (const StatisticsFact& fact : statistics.facts) line(fact.name, fact.value);
  if (!IsOfFiguresOnly(profile)) text += TimelineChart(profile.timeline, kNameColumns, style);
  for (const std::string& note : statistics.notes) line("note", Printable(note));
  return text;
}

// The rows' figures, each with a bar, and the total.
std::string BarTable(const char* title, const char* name, const std::vector<StatisticsRow>& rows,
                     const Statistics& statistics, uint64_t Count::*drawn, const TextStyle& style) {
  constexpr size_t kLongestBar = 40;
  const Count& whole = statistics.total;
  TextTable table({{name},
                   {statistics.estimates ? "≈ blocks" : "blocks", 14, 1},
                   {"share", 6},
                   {statistics.estimates ? "≈ bytes" : "bytes", 12, 1},
                   {"share", 6}},
                  "", style);
  const auto add = [&](const Count& count, const std::string& text) {
    table.Add(
        {{text, FormatCount(count.allocations), FormatShare(count.allocations, whole.allocations),
          FormatBytes(count.bytes), FormatShare(count.bytes, whole.bytes)}});
  };
  uint64_t most = 1;
  for (const StatisticsRow& row : rows) {
    add(row.count, row.name);
    if (!row.is_rest) most = std::max(most, row.count.*drawn);
  }
  if (whole != Count()) add(whole, "total");
  const size_t used = table.Indent();
  const size_t room = style.width > used + 4 ? std::min(style.width - used, kLongestBar) : 4;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].is_rest) continue;
    const double share = static_cast<double>(rows[i].count.*drawn) / static_cast<double>(most);
    const auto length = static_cast<size_t>(share * static_cast<double>(room) + 0.5);
    for (size_t j = 0; j < length; ++j) table.row(i).function += "█";
  }
  return "\n" + Bold(title, style) + "\n" + table.Text();
}

std::string PlaceText(const StatisticsRow& row, size_t columns) {
  const std::string place = ShortenedFront(row.place, columns / 2);
  if (place.empty()) return Shortened(row.name, columns);
  return Shortened(row.name, columns - Columns(place) - 2) + "  " + place;
}

std::string PlacesText(const char* title, const std::vector<StatisticsRow>& rows,
                       const Statistics& statistics, uint64_t Count::*by, const TextStyle& style) {
  const std::string sign = statistics.estimates ? "≈ " : "";
  TextTable table({{sign + "blocks", 14, 1}, {sign + "bytes", 12, 1}, {"share", 6}},
                  "function  place", style);
  const auto line = [&](const Count& count, std::string name) {
    table.Add({{FormatCount(count.allocations), FormatBytes(count.bytes),
                FormatShare(count.*by, statistics.total.*by)},
               std::move(name)});
  };
  for (const StatisticsRow& row : rows) {
    line(row.count, row.is_rest ? row.name : PlaceText(row, table.Room()));
  }
  line(statistics.total, "total");
  return "\n" + Bold(title, style) + "\n" + table.Text();
}

}  // namespace

std::string StatsText(const Profile& profile, const TextStyle& style) {
  const Statistics statistics = StatisticsOf(profile);
  std::string text = FactsText(profile, statistics, style) + MemoryText(statistics.memory, style);
  if (!IsOfFiguresOnly(profile)) {
    text += BarTable("Allocations by size", "size", statistics.sizes, statistics,
                     &Count::allocations, style);
  }
  return text +
         BarTable("Allocations by function", "function", statistics.kinds, statistics,
                  &Count::bytes, style) +
         PlacesText("Allocated most bytes", statistics.most_bytes, statistics, &Count::bytes,
                    style) +
         PlacesText("Allocated most often", statistics.most_blocks, statistics, &Count::allocations,
                    style);
}

}  // namespace memprof

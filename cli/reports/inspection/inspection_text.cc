#include "cli/reports/inspection/inspection_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/terminal/text_table.h"
#include "core/profile/inspection_rows.h"
#include "core/units.h"

namespace memprof {
namespace {

// The rows with the largest figure, without those that have none.
template <typename Value>
std::vector<const InspectionRow*> Heaviest(const std::vector<InspectionRow>& rows, Value value) {
  std::vector<const InspectionRow*> heaviest;
  for (const InspectionRow& row : rows) {
    if (value(row) != std::pair<uint64_t, uint64_t>()) heaviest.push_back(&row);
  }
  std::stable_sort(
      heaviest.begin(), heaviest.end(),
      [&](const InspectionRow* a, const InspectionRow* b) { return value(*a) > value(*b); });
  return heaviest;
}

std::string Whole(const char* name, const Count& count) {
  return fmt::format("  {:<22}{:>12}  {}\n", name, FormatBytes(count.bytes),
                     FormatCountOf(count.allocations, "block"));
}

std::string LostText(const std::vector<InspectionRow>& rows, size_t most, const TextStyle& style) {
  const auto lost = Heaviest(rows, [](const InspectionRow& row) {
    const Count count = row.figures.lost();
    return std::pair(count.bytes, count.allocations);
  });
  if (lost.empty()) return {};
  TextTable table({"lost", "blocks", "directly", "blocks"}, style);
  const auto add = [&table](const HeldFigures& figures, std::string name, std::string place) {
    const Count all = figures.lost();
    table.Add(
        {{FormatBytes(all.bytes), FormatCount(all.allocations),
          FormatBytes(figures.lost_directly.bytes), FormatCount(figures.lost_directly.allocations)},
         std::move(name),
         std::move(place)});
  };
  HeldFigures others;
  for (size_t i = 0; i < lost.size(); ++i) {
    const PlaceKey& place = lost[i]->place;
    if (most != 0 && i >= most) {
      others += lost[i]->figures;
      continue;
    }
    const std::string& kind = lost[i]->kind;
    add(lost[i]->figures,
        Printable(kind.empty() ? place.function : fmt::format("{} ({})", place.function, kind)),
        Printable(WhereText(place)));
  }
  if (most != 0 && lost.size() > most) {
    add(others, fmt::format("others ({})", FormatCount(lost.size() - most)), "");
  }
  return "\nlost for good, by place\n" + table.Text();
}

std::string PathsText(const std::vector<PathRow>& rows, size_t most, const TextStyle& style) {
  if (rows.empty()) return {};
  TextTable table({{"bytes"}, {"blocks"}}, "held by", style);
  std::vector<std::string> paths;
  const auto add = [&](const Count& held, std::string path) {
    table.Add({{FormatBytes(held.bytes), FormatCount(held.allocations)}});
    paths.push_back(std::move(path));
  };
  Count others;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (most != 0 && i >= most) {
      others += rows[i].own;
      continue;
    }
    add(rows[i].own, PathText(rows[i].path));
  }
  if (most != 0 && rows.size() > most) {
    add(others, fmt::format("others ({})", FormatCount(rows.size() - most)));
  }
  // A path is known by its root and its end.
  const size_t room = std::max<size_t>(table.Room(), 40);
  for (size_t i = 0; i < paths.size(); ++i) table.row(i).function = Shortened(paths[i], room);
  return "\nwhat holds the rest\n" + table.Text();
}

std::string RetainedText(const std::vector<InspectionRow>& rows, size_t most,
                         const TextStyle& style) {
  const auto retained = Heaviest(
      rows, [](const InspectionRow& row) { return std::pair(row.retained_bytes, uint64_t{0}); });
  if (retained.empty()) return {};
  TextTable table({"retained", "own", "blocks"}, style);
  for (size_t i = 0; i < retained.size() && (most == 0 || i < most); ++i) {
    const PlaceKey& place = retained[i]->place;
    const Count own = retained[i]->figures.reachable;
    table.Add({{FormatBytes(retained[i]->retained_bytes), FormatBytes(own.bytes),
                FormatCount(own.allocations)},
               Printable(place.function),
               Printable(WhereText(place))});
  }
  return "\nwould be freed with all reachable blocks of a place (places overlap)\n" + table.Text();
}

std::string PagesText(const std::vector<InspectionRow>& rows, size_t most, const TextStyle& style) {
  const auto pinned = Heaviest(
      rows, [](const InspectionRow& row) { return std::pair(row.free_bytes, row.alone_bytes); });
  if (pinned.empty()) return {};
  TextTable table({"free there", "goes back", "live"}, style);
  uint64_t total = 0;
  InspectionRow others;
  for (size_t i = 0; i < pinned.size(); ++i) {
    const InspectionRow& row = *pinned[i];
    total += row.free_bytes;
    if (most != 0 && i >= most) {
      others.free_bytes += row.free_bytes;
      others.alone_bytes += row.alone_bytes;
      others.figures += row.figures;
      continue;
    }
    const PlaceKey& place = row.place;
    table.Add({{FormatBytes(row.free_bytes), FormatBytes(row.alone_bytes),
                FormatBytes(row.figures.live().bytes)},
               Printable(place.function),
               Printable(WhereText(place))});
  }
  if (most != 0 && pinned.size() > most) {
    table.Add({{FormatBytes(others.free_bytes), FormatBytes(others.alone_bytes),
                FormatBytes(others.figures.live().bytes)},
               fmt::format("others ({})", FormatCount(pinned.size() - most)),
               ""});
  }
  return fmt::format("\n{} of resident memory is free, on pages that live blocks keep\n",
                     FormatBytes(total)) +
         table.Text();
}

}  // namespace

std::string InspectionText(const Profile& profile, size_t rows, const TextStyle& style) {
  const SnapshotInspection& inspection = profile.inspection;
  const HeldFigures total = SumOf(inspection);
  const Count live = total.live();
  const size_t width = std::max<size_t>(style.width, 40);
  std::string text = Wrapped(
      fmt::format("{} {}: {} in {} live after {}; stopped {} for {:.1f} ms, took {}",
                  Printable(profile.program.program), profile.program.pid, FormatBytes(live.bytes),
                  FormatCountOf(live.allocations, "block"), FormatDuration(inspection.time_ms),
                  inspection.looks == 1 ? "once" : "twice, at most",
                  static_cast<double>(inspection.longest_pause_us) / 1000,
                  FormatDuration(inspection.took_ms)),
      2, width - 2);
  text += Whole("lost directly", total.lost_directly);
  text += Whole("lost indirectly", total.lost_indirectly);
  text += Whole("reachable", total.reachable);
  if (total.inherited.allocations != 0) text += Whole("inherited at fork", total.inherited);
  if (total.unknown.allocations != 0) text += Whole("unknown", total.unknown);
  if (total.in_cycles.allocations != 0) {
    text += fmt::format("{} of the lost ones hold each other in cycles ({})\n",
                        FormatCountOf(total.in_cycles.allocations, "block"),
                        FormatBytes(total.in_cycles.bytes));
  }
  const std::vector<InspectionRow> places = InspectionRows(profile);
  text += LostText(places, rows, style);
  text += PathsText(PathRows(profile), rows, style);
  text += RetainedText(places, rows, style);
  text += PagesText(places, rows, style);
  for (const std::string& note : inspection.notes) {
    text += "\nnote: " + Wrapped(Printable(note), 6, width - 6);
  }
  return text;
}

}  // namespace memprof

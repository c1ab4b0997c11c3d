#include "cli/reports/mappings/mapping_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "cli/reports/exactness.h"
#include "core/profile/location.h"
#include "formats/export/csv_line.h"
#include "formats/export/json_export.h"
#include "formats/export/mappings_json.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

MappingRow PlaceOfRow(const Profile& profile, const SnapshotMapping& mapping) {
  MappingRow row;
  ProfileSite site;
  site.node = mapping.node;
  const uint32_t node = LocationOf(profile, site);
  const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
  row.function = node == 0 ? "[no stack]" : frame.function;
  row.kind = mapping.kind;
  row.reserved = mapping.reserved;
  row.mapped_file = mapping.file;
  if (node == 0) return row;
  row.file = frame.file;
  row.line = frame.line;
  if (frame.module < profile.modules.size()) row.module = profile.modules[frame.module].path;
  return row;
}

// The first `limit` rows of each kind, reserved or not, and the sum of the others.
std::vector<MappingRow> LimitedRows(std::vector<MappingRow> rows, size_t limit) {
  if (limit == 0) return rows;
  std::vector<MappingRow> limited;
  for (const bool reserved : {false, true}) {
    size_t shown = 0;
    MappingRow others;
    others.function = "[others]";
    others.reserved = reserved;
    for (MappingRow& row : rows) {
      if (row.reserved != reserved) continue;
      if (shown++ < limit) {
        limited.push_back(std::move(row));
        continue;
      }
      others.peak += row.peak;
      others.leaked += row.leaked;
      others.total += row.total;
    }
    if (shown > limit) limited.push_back(std::move(others));
  }
  return limited;
}

}  // namespace

std::vector<MappingRow> MappingRows(const Profile& profile, Figure figure) {
  using RowKey =
      std::tuple<bool, std::string, std::string, uint32_t, std::string, MappingKind, std::string>;
  std::map<RowKey, MappingRow> by_place;
  for (const SnapshotMapping& mapping : profile.mappings.rows) {
    MappingRow row = PlaceOfRow(profile, mapping);
    const RowKey key = {row.reserved, row.function, row.file,       row.line,
                        row.module,   row.kind,     row.mapped_file};
    MappingRow& sum = by_place.emplace(key, std::move(row)).first->second;
    sum.peak += mapping.peak;
    sum.leaked += mapping.leaked;
    sum.total += mapping.total;
  }
  std::vector<MappingRow> rows;
  for (auto& entry : by_place) rows.push_back(std::move(entry.second));
  if (profile.mappings.unattributed_bytes != 0) {
    MappingRow row;
    row.function = "[not attributed]";
    row.peak.bytes = profile.mappings.unattributed_bytes;
    rows.push_back(std::move(row));
  }
  // Ties keep the order of the names.
  std::stable_sort(rows.begin(), rows.end(), [&](const MappingRow& a, const MappingRow& b) {
    if (a.reserved != b.reserved) return b.reserved;
    return ShownOf(a, figure).bytes > ShownOf(b, figure).bytes;
  });
  return rows;
}

std::string MappingsJsonText(const Profile& profile, Figure figure, size_t limit) {
  Json json = StatsObject(profile);
  json["notes"] = profile.notes;
  json["figure"] = NameOf(figure);
  Json& array = json["rows"] = Json::array();
  for (const MappingRow& row : LimitedRows(MappingRows(profile, figure), limit)) {
    array.push_back({{"function", row.function},
                     {"file", row.file},
                     {"line", row.line},
                     {"module", row.module},
                     {"kind", NameOf(row.kind)},
                     {"reserved", row.reserved},
                     {"mapped_file", row.mapped_file},
                     {"peak", MappingFigureJson(row.peak)},
                     {"leaked", MappingFigureJson(row.leaked)},
                     {"total", MappingFigureJson(row.total)}});
  }
  return JsonText(json);
}

std::string MappingsCsv(const Profile& profile, Figure figure, size_t limit) {
  std::string text = CsvLine({"function", "file", "line", "module", "kind", "reserved",
                              "mapped_file", "peak_bytes", "peak_mappings", "leaked_bytes",
                              "leaked_mappings", "total_bytes", "total_mappings"});
  for (const MappingRow& row : LimitedRows(MappingRows(profile, figure), limit)) {
    std::vector<std::string> fields = {
        row.function,   row.file,         row.line != 0 ? fmt::format("{}", row.line) : "",
        row.module,     NameOf(row.kind), row.reserved ? "true" : "false",
        row.mapped_file};
    for (const Count& count : {row.peak, row.leaked, row.total}) {
      fields.push_back(fmt::format("{}", count.bytes));
      fields.push_back(fmt::format("{}", count.allocations));
    }
    text += CsvLine(fields);
  }
  return text;
}

std::string WhyNoMappings(const Profile& profile, const std::string& capture) {
  if (profile.mappings.followed || !profile.mappings.rows.empty()) return {};
  if (IsOfFiguresOnly(profile)) {
    return capture +
           " has the mappings of its processes together: ask the process's own capture, "
           "or leave --process out";
  }
  return capture + " has no mappings: profile again with this memprof, without --no-mmap";
}

}  // namespace memprof

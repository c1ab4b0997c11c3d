#include "cli/web/page_inspection.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/web/page_columns.h"
#include "core/profile/inspection_rows.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 200;  // of each table; the rest is one row

// The rows for which `weight` isn't 0, the heaviest first; `make` gives a row's figures.
template <typename Weight, typename Make>
Json PlacesJson(std::vector<InspectionRow> rows, Weight weight, Make make) {
  std::erase_if(rows, [&](const InspectionRow& row) { return weight(row) == 0; });
  std::stable_sort(rows.begin(), rows.end(), [&](const InspectionRow& a, const InspectionRow& b) {
    return weight(a) > weight(b);
  });
  InspectionRow others;
  for (size_t i = kMostRows; i < rows.size(); ++i) {
    others.figures += rows[i].figures;
    others.alone_bytes += rows[i].alone_bytes;
    others.free_bytes += rows[i].free_bytes;
  }
  Json json = Json::array();
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const PlaceKey& place = rows[i].place;
    json.push_back(
        {{"name", place.function}, {"place", WhereText(place)}, {"figures", make(rows[i])}});
  }
  if (rows.size() > kMostRows) {
    json.push_back({{"name", std::to_string(rows.size() - kMostRows) + " other places"},
                    {"rest", true},
                    {"figures", make(others)}});
  }
  return json;
}

Json PathsJson(const std::vector<PathRow>& rows) {
  Json json = Json::array();
  Count others;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < kMostRows) {
      json.push_back({{"path", rows[i].path}, {"held", CountJson(rows[i].own)}});
    } else {
      others += rows[i].own;
    }
  }
  if (rows.size() > kMostRows) {
    json.push_back({{"path", {std::to_string(rows.size() - kMostRows) + " other paths"}},
                    {"rest", true},
                    {"held", CountJson(others)}});
  }
  return json;
}

}  // namespace

Json HeldJson(const Profile& profile) {
  const SnapshotInspection& inspection = profile.inspection;
  if (inspection.looks == 0) return nullptr;
  const HeldFigures total = SumOf(inspection);
  const std::vector<InspectionRow> rows = InspectionRows(profile);
  return {
      {"time_ms", inspection.time_ms},
      {"pause_us", inspection.longest_pause_us},
      {"total",
       {{"lost_directly", CountJson(total.lost_directly)},
        {"lost_indirectly", CountJson(total.lost_indirectly)},
        {"reachable", CountJson(total.reachable)},
        {"inherited", CountJson(total.inherited)},
        {"unknown", CountJson(total.unknown)},
        {"live", CountJson(total.live())}}},
      {"notes", inspection.notes},
      {"lost", PlacesJson(
                   rows, [](const InspectionRow& row) { return row.figures.lost().allocations; },
                   [](const InspectionRow& row) {
                     return Json::array({row.figures.lost().bytes, row.figures.lost().allocations,
                                         row.figures.lost_directly.bytes});
                   })},
      {"paths", PathsJson(PathRows(profile))},
      {"pages",
       PlacesJson(
           rows, [](const InspectionRow& row) { return row.free_bytes; },
           [](const InspectionRow& row) {
             return Json::array({row.free_bytes, row.alone_bytes, row.figures.live().bytes});
           })}};
}

}  // namespace memprof

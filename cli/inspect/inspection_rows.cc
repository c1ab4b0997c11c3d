#include "cli/inspect/inspection_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base_name.h"

namespace memprof {
namespace {

PlaceKey PlaceOf(const Profile& profile, const InspectedRow& row) {
  if (row.node == 0) {
    const bool inherited = row.figures.inherited.allocations != 0;
    return {inherited ? "[inherited]" : "[unknown]", "", 0, ""};
  }
  ProfileSite site;
  site.node = row.node;
  return PlaceKeyOf(profile, LocationOf(profile, site));
}

}  // namespace

std::string PlaceText(const PlaceKey& place) {
  if (place.line != 0) {
    return fmt::format("{} {}:{}", place.function, BaseName(place.file), place.line);
  }
  const std::string_view where = BaseName(place.module);
  return where.empty() ? place.function : fmt::format("{} {}", place.function, where);
}

std::vector<InspectionRow> InspectionRows(const Profile& profile) {
  std::map<PlaceKey, uint32_t> row_of;
  std::vector<InspectionRow> rows;
  std::vector<uint32_t> groups;
  for (const InspectedRow& row : profile.inspection.rows) {
    const PlaceKey place = PlaceOf(profile, row);
    const auto [at, is_new] = row_of.try_emplace(place, static_cast<uint32_t>(rows.size()));
    if (is_new) rows.push_back({place, {}, 0});
    rows[at->second].figures += row.figures;
    groups.push_back(at->second);
  }
  const std::vector<uint64_t> retained = RetainedBytes(profile.inspection.retained, groups);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].retained_bytes = retained[i];
  return rows;
}

std::vector<PathRow> PathRows(const Profile& profile) {
  const SnapshotInspection& inspection = profile.inspection;
  std::vector<std::string> places;
  for (const InspectedRow& row : inspection.rows)
    places.push_back(PlaceText(PlaceOf(profile, row)));
  std::map<std::vector<std::string>, Count> by_path;
  std::vector<std::vector<std::string>> paths(inspection.paths.size());
  for (size_t i = 1; i < paths.size(); ++i) {
    const HoldingPath& path = inspection.paths[i];
    paths[i] = paths[path.parent];
    const std::string& name = path.is_root ? inspection.roots[path.what] : places[path.what];
    if (paths[i].empty() || paths[i].back() != name) paths[i].push_back(name);
    if (path.own.allocations != 0) by_path[paths[i]] += path.own;
  }
  std::vector<PathRow> rows;
  for (auto& [path, own] : by_path) rows.push_back({path, own});
  std::stable_sort(rows.begin(), rows.end(), [](const PathRow& a, const PathRow& b) {
    return std::pair(a.own.bytes, a.own.allocations) > std::pair(b.own.bytes, b.own.allocations);
  });
  return rows;
}

}  // namespace memprof

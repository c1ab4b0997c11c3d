#include "core/profile/inspection_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base_name.h"
#include "core/printable.h"
#include "core/profile/container_name.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

uint32_t LocationOf(const Profile& profile, const InspectedRow& row) {
  ProfileSite site;
  site.node = row.node;
  return LocationOf(profile, site);
}

PlaceKey PlaceOf(const Profile& profile, const InspectedRow& row) {
  if (row.node == 0) {
    const bool inherited = row.figures.inherited.allocations != 0;
    return {inherited ? "[inherited]" : "[unknown]", "", 0, ""};
  }
  return PlaceKeyOf(profile, LocationOf(profile, row));
}

struct InspectedPlaces {
  std::vector<PlaceKey> places;                 // by row
  std::vector<std::vector<std::string>> paths;  // the names on each, without repetitions

  explicit InspectedPlaces(const Profile& profile) : paths(profile.inspection.paths.size()) {
    const SnapshotInspection& inspection = profile.inspection;
    std::vector<std::string> names;
    for (const InspectedRow& row : inspection.rows) {
      places.push_back(PlaceOf(profile, row));
      const std::string kind = KindOf(profile, row);
      names.push_back((kind.empty() ? "" : kind + ", ") + PlaceText(places.back()));
    }
    for (size_t i = 1; i < paths.size(); ++i) {
      const HoldingPath& path = inspection.paths[i];
      const std::string& name = path.is_root ? inspection.roots[path.what] : names[path.what];
      paths[i] = paths[path.parent];
      if (paths[i].empty() || paths[i].back() != name) paths[i].push_back(name);
    }
  }
};

}  // namespace

std::string KindOf(const Profile& profile, const InspectedRow& row) {
  if (const std::string_view type = profile.inspection.TypeOf(row); !type.empty()) {
    return ShortTypeName(type);
  }
  if (row.node == 0) return {};
  const uint32_t location = LocationOf(profile, row);
  std::vector<std::string_view> functions;
  for (const uint32_t node : PathToRoot(profile.nodes, row.node)) {
    if (node == location) break;
    functions.push_back(profile.frames[profile.nodes[node].frame].function);
  }
  return ContainerName(functions);
}

std::string PlaceText(const PlaceKey& place) {
  if (place.line != 0) {
    return fmt::format("{} {}:{}", place.function, BaseName(place.file), place.line);
  }
  const std::string_view where = BaseName(place.module);
  return where.empty() ? place.function : fmt::format("{} {}", place.function, where);
}

std::string WhereText(const PlaceKey& place) {
  return place.line != 0 ? fmt::format("{}:{}", place.file, place.line) : place.module;
}

std::vector<InspectionRow> InspectionRows(const Profile& profile) {
  std::map<PlaceKey, uint32_t> row_of;
  std::vector<InspectionRow> rows;
  std::vector<uint32_t> groups;
  std::vector<std::map<std::string, uint64_t>> kinds;  // live bytes
  for (const InspectedRow& row : profile.inspection.rows) {
    const PlaceKey place = PlaceOf(profile, row);
    const auto [at, is_new] = row_of.try_emplace(place, static_cast<uint32_t>(rows.size()));
    if (is_new) rows.emplace_back().place = place;
    kinds.resize(rows.size());
    kinds[at->second][KindOf(profile, row)] += row.figures.live().bytes;
    rows[at->second].figures += row.figures;
    rows[at->second].alone_bytes += row.alone_bytes;
    rows[at->second].free_bytes += row.free_bytes;
    groups.push_back(at->second);
  }
  const std::vector<uint64_t> retained = RetainedBytes(profile.inspection.retained, groups);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].retained_bytes = retained[i];
    rows[i].kind =
        std::max_element(kinds[i].begin(), kinds[i].end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
  }
  return rows;
}

std::vector<PathRow> PathRows(const Profile& profile) {
  const InspectedPlaces inspected(profile);
  std::map<std::vector<std::string>, Count> by_path;
  for (size_t i = 1; i < inspected.paths.size(); ++i) {
    const Count& own = profile.inspection.paths[i].own;
    if (own.allocations != 0) by_path[inspected.paths[i]] += own;
  }
  std::vector<PathRow> rows;
  for (auto& [path, own] : by_path) rows.push_back({path, own});
  std::stable_sort(rows.begin(), rows.end(), [](const PathRow& a, const PathRow& b) {
    return std::pair(a.own.bytes, a.own.allocations) > std::pair(b.own.bytes, b.own.allocations);
  });
  return rows;
}

std::map<PlaceKey, PlaceInspection> InspectionByPlace(const Profile& profile) {
  const SnapshotInspection& inspection = profile.inspection;
  const InspectedPlaces inspected(profile);
  std::map<PlaceKey, PlaceInspection> found;
  for (size_t i = 0; i < inspection.rows.size(); ++i) {
    found[inspected.places[i]].figures += inspection.rows[i].figures;
  }
  // By place and by how it is held: bytes.
  std::map<PlaceKey, std::map<std::vector<std::string>, uint64_t>> ways;
  for (size_t i = 1; i < inspected.paths.size(); ++i) {
    const HoldingPath& path = inspection.paths[i];
    if (path.is_root || path.own.bytes == 0) continue;
    ways[inspected.places[path.what]][inspected.paths[path.parent]] += path.own.bytes;
  }
  for (auto& [place, by_way] : ways) {
    const auto heaviest =
        std::max_element(by_way.begin(), by_way.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    found[place].held_by = heaviest->first;
  }
  return found;
}

std::string PathText(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : " → ") + Printable(part);
  return text;
}

}  // namespace memprof

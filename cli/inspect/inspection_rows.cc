#include "cli/inspect/inspection_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base_name.h"

namespace memprof {
namespace {

PlaceKey PlaceOf(const HeapInspection& inspection, size_t site) {
  const uint32_t stack = inspection.stack_of[site];
  if (stack == kNoSite) {
    const bool inherited = inspection.found.sites[site].figures.inherited.allocations != 0;
    return {inherited ? "[inherited]" : "[unknown]", "", 0, ""};
  }
  const Profile& profile = inspection.profile;
  return PlaceKeyOf(profile, LocationOf(profile, profile.sites[stack]));
}

}  // namespace

std::string PlaceText(const PlaceKey& place) {
  if (place.line != 0) {
    return fmt::format("{} {}:{}", place.function, BaseName(place.file), place.line);
  }
  const std::string_view where = BaseName(place.module);
  return where.empty() ? place.function : fmt::format("{} {}", place.function, where);
}

std::vector<InspectionRow> InspectionRows(const HeapInspection& inspection) {
  std::map<PlaceKey, uint32_t> row_of;
  std::vector<InspectionRow> rows;
  std::vector<uint32_t> groups;
  for (size_t i = 0; i < inspection.found.sites.size(); ++i) {
    const PlaceKey place = PlaceOf(inspection, i);
    const auto [at, is_new] = row_of.try_emplace(place, static_cast<uint32_t>(rows.size()));
    if (is_new) rows.push_back({place, {}, 0});
    rows[at->second].figures += inspection.found.sites[i].figures;
    groups.push_back(at->second);
  }
  const std::vector<uint64_t> retained = RetainedBytes(inspection.found, groups);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].retained_bytes = retained[i];
  return rows;
}

std::vector<PathRow> PathRows(const HeapInspection& inspection) {
  const Inspection& found = inspection.found;
  std::map<uint32_t, std::string> by_site;
  for (size_t i = 0; i < found.sites.size(); ++i) {
    by_site[found.sites[i].site] = PlaceText(PlaceOf(inspection, i));
  }
  std::map<std::vector<std::string>, Count> by_path;
  std::vector<std::vector<std::string>> paths(found.paths.size());
  for (size_t i = 1; i < found.paths.size(); ++i) {
    const HoldingPath& path = found.paths[i];
    paths[i] = paths[path.parent];
    std::string name = path.is_root ? inspection.roots[path.what] : by_site[path.what];
    if (paths[i].empty() || paths[i].back() != name) paths[i].push_back(std::move(name));
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

#include "cli/reports/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/base_name.h"
#include "core/frame_kind.h"
#include "core/profile/location.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

PlaceKey KeyOf(const Profile& profile, const ProfileSite& site, const RowOptions& options) {
  if (site.runtime_reason != nullptr) {
    if (!options.show_runtime) return {kRuntimeRow, "", 0, ""};
    return {fmt::format("[runtime: {}]", site.runtime_reason), "", 0, ""};
  }
  return PlaceKeyOf(profile, LocationOf(profile, site));
}

PlaceKey CallerOf(const Profile& profile, const ProfileSite& site) {
  const uint32_t above = profile.nodes[LocationOf(profile, site)].parent;
  for (const uint32_t node : PathToRoot(profile.nodes, above)) {
    PlaceKey key = PlaceKeyOf(profile, node);
    if (ClassifyFrame(key.function, key.module) != FrameKind::kSystem) return key;
  }
  return {"[no caller]", "", 0, ""};
}

template <typename Row>
bool Before(const Row& a, const Row& b, const RowOptions& options) {
  const Count& x = FigureOf(a, options.figure);
  const Count& y = FigureOf(b, options.figure);
  // Ties are decided by the name, so that a report is the same every time.
  const auto name = std::tie(a.function, a.file, a.line, a.module) <
                    std::tie(b.function, b.file, b.line, b.module);
  switch (options.sort) {
    case SortKey::kBytes:
      if (x.bytes != y.bytes) return x.bytes > y.bytes;
      break;
    case SortKey::kAllocations:
      if (x.allocations != y.allocations) return x.allocations > y.allocations;
      break;
    case SortKey::kTotal:
      if (a.total.bytes != b.total.bytes) return a.total.bytes > b.total.bytes;
      break;
    case SortKey::kFunction:
      break;
  }
  return name;
}

template <typename Row>
void Book(const PlaceKey& key, const ProfileSite& site, Row& row) {
  row.function = key.function;
  row.file = key.file;
  row.line = key.line;
  row.module = key.module;
  AddFigures(row, site);
  row.variances += site.variances;
  if (site.of_running_threads) row.of_running_threads += site.leaked;
}

template <typename Row>
std::vector<Row> Sorted(std::map<PlaceKey, Row> rows, const RowOptions& options) {
  std::vector<Row> sorted;
  for (auto& entry : rows) sorted.push_back(std::move(entry.second));
  std::sort(sorted.begin(), sorted.end(),
            [&](const Row& a, const Row& b) { return Before(a, b, options); });
  return sorted;
}

}  // namespace

Result<SortKey> ParseSortKey(std::string_view text) {
  if (text == "bytes") return SortKey::kBytes;
  if (text == "allocations") return SortKey::kAllocations;
  if (text == "total") return SortKey::kTotal;
  if (text == "function") return SortKey::kFunction;
  return Fail(ErrorKind::kUsage,
              fmt::format("-s {}: sort by bytes, allocations, total or function", text));
}

std::vector<LocationRow> LocationRows(const Profile& profile, const RowOptions& options) {
  std::map<PlaceKey, LocationRow> rows;
  std::map<PlaceKey, std::map<PlaceKey, CallerRow>> callers;
  for (const ProfileSite& site : profile.sites) {
    const PlaceKey key = KeyOf(profile, site, options);
    LocationRow& row = rows[key];
    Book(key, site, row);
    ++row.stacks;
    row.sites.push_back(static_cast<uint32_t>(&site - profile.sites.data()));
    const uint64_t bytes = FigureOf(site, options.figure).bytes;
    if (row.heaviest_node == 0 || bytes > row.heaviest_bytes) {
      row.heaviest_node = site.node;
      row.heaviest_bytes = bytes;
    }
    if (!options.callers || site.runtime_reason != nullptr) continue;
    const PlaceKey caller = CallerOf(profile, site);
    Book(caller, site, callers[key][caller]);
  }
  for (auto& [key, of_row] : callers) rows[key].callers = Sorted(std::move(of_row), options);
  return Sorted(std::move(rows), options);
}

std::string PlaceOf(const std::string& function, const std::string& file, uint32_t line,
                    const std::string& module, size_t folders) {
  if (file.empty()) {
    const std::string name(BaseName(module));
    return function.starts_with(name + "+0x") ? "" : name;
  }
  size_t start = file.rfind('/');
  for (; folders > 0 && start != std::string::npos && start > 0; --folders) {
    start = file.rfind('/', start - 1);
  }
  // A short path is shown in full, with its leading slash.
  if (start == 0 && file.rfind('/') != 0) start = std::string::npos;
  const std::string name = file.substr(start == std::string::npos ? 0 : start + 1);
  return line != 0 ? fmt::format("{}:{}", name, line) : name;
}

}  // namespace memprof

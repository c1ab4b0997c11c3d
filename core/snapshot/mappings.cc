#include "core/snapshot/mappings.h"

#include <map>
#include <tuple>

namespace memprof {

MappingSums SumMappings(const std::vector<SnapshotMapping>& rows, bool reserved) {
  MappingSums sums;
  for (const SnapshotMapping& row : rows) {
    if (row.reserved != reserved) continue;
    sums.peak += row.peak;
    sums.leaked += row.leaked;
    sums.total += row.total;
  }
  return sums;
}

bool HasFigure(const SnapshotMapping& row) {
  const Count none;
  return row.peak != none || row.leaked != none || row.total != none;
}

std::vector<SnapshotMapping> CanonicalMappings(const std::vector<SnapshotMapping>& rows) {
  std::map<std::tuple<uint32_t, uint32_t, MappingKind, bool, std::string>, SnapshotMapping>
      by_place;
  for (const SnapshotMapping& row : rows) {
    if (!HasFigure(row)) continue;
    const auto [at, fresh] = by_place.emplace(
        std::tie(row.node, row.thread_name, row.kind, row.reserved, row.file), row);
    if (fresh) continue;
    at->second.peak += row.peak;
    at->second.leaked += row.leaked;
    at->second.total += row.total;
    at->second.history = SumOf(at->second.history, row.history);
  }
  std::vector<SnapshotMapping> canonical;
  for (auto& entry : by_place) canonical.push_back(std::move(entry.second));
  return canonical;
}

const char* NameOf(MappingKind kind) {
  switch (kind) {
    case MappingKind::kShared:
      return "shared";
    case MappingKind::kFile:
      return "file";
    case MappingKind::kBreak:
      return "break";
    case MappingKind::kAnonymous:
      break;
  }
  return "anonymous";
}

}  // namespace memprof

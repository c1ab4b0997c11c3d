#include "core/snapshot/process_rows.h"

#include <algorithm>

#include "core/figure.h"
#include "core/saturated_sum.h"
#include "core/snapshot/snapshot.h"

namespace memprof {
namespace {

bool HasFigure(const ProcessRow& row) {
  const Count none;
  return row.peak != none || row.leaked != none || row.total != none;
}

bool IsAtMost(const Count& a, const Count& b) {
  return a.bytes <= b.bytes && a.allocations <= b.allocations;
}

}  // namespace

SnapshotProcess ProcessOf(const std::vector<SnapshotSite>& sites) {
  SnapshotProcess process{SnapshotProcess::Kind::kApart};
  process.rows.reserve(sites.size());
  for (uint32_t i = 0; i < sites.size(); ++i) {
    process.rows.push_back({i, sites[i].peak, sites[i].leaked, sites[i].total, sites[i].temporary});
  }
  return process;
}

void MoveRows(std::vector<ProcessRow>& rows, const std::vector<uint32_t>& moved) {
  std::erase_if(rows, [](const ProcessRow& row) { return !HasFigure(row); });
  for (ProcessRow& row : rows) row.site = moved[row.site];
  std::sort(rows.begin(), rows.end(),
            [](const ProcessRow& a, const ProcessRow& b) { return a.site < b.site; });
  size_t last = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].site == rows[last].site) {
      AddFigures(rows[last], rows[i]);
    } else {
      rows[++last] = rows[i];
    }
  }
  if (!rows.empty()) rows.resize(last + 1);
}

bool FitSites(const std::vector<SnapshotProcess>& processes,
              const std::vector<SnapshotSite>& sites) {
  std::vector<ProcessRow> sums(sites.size());
  for (const SnapshotProcess& process : processes) {
    for (const ProcessRow& row : process.rows) {
      for (const Figure figure : kAllFigures) {
        Count& sum = FigureOf(sums[row.site], figure);
        const Count& more = FigureOf(row, figure);
        sum = {SaturatedSum(sum.bytes, more.bytes),
               SaturatedSum(sum.allocations, more.allocations)};
        if (!IsAtMost(sum, FigureOf(sites[row.site], figure))) return false;
      }
    }
  }
  return true;
}

}  // namespace memprof

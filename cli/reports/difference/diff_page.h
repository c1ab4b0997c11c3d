// The difference of two captures as one HTML file: a red and blue flame graph with a table. Like
// cli/web/page.h's page, it works from a disk, offline, and shows text only as text.
//
// Invariant: for every figure the nodes, and the rows of each table, sum to both captures' totals.
// Thread safety: pure. The same profiles and options give the same bytes.
#pragma once

#include <string>

#include "cli/reports/difference/diff_text.h"

namespace memprof {

struct DiffPageOptions {
  DiffBy by = DiffBy::kSite;  // the table that the page shows first
  Figure figure = Figure::kPeak;
  size_t max_rows = 1000;  // in a table: the largest changes; the others are one row
  size_t max_nodes = 50'000;
};

// The data alone. A figure is [bytes, allocations] before, then after.
//
//   {"schema": 1, "figure": …, "by": …, "before": {"capture", "program", "run", "warnings",
//    "notes"}, "after", "estimates": bool, "totals": {"peak": [4 numbers], …}, "pruned_nodes",
//    "frames": {"function": […], "module": […], "kind": […]},
//    "nodes": {"parent": […], "frame": […]}, "own": {"node": […], "peak": [4 numbers each], …},
//    "tables": {"site": [{"name", "place", "module", "callers", "rows": n of folded rows,
//    "peak": [4], "leaked", "total"}], "function", "module"}}
std::string DiffPageData(const DiffSide& before, const DiffSide& after,
                         const DiffPageOptions& options);

std::string MakeDiffPage(const DiffSide& before, const DiffSide& after,
                         const DiffPageOptions& options);

}  // namespace memprof

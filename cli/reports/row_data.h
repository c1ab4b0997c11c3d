// Rows by place as JSON and CSV: summary and table for other programs, under the names of
// `transform json`.
//
// `limit`: how many rows at most; 0: all. What is beyond is a row "[others]", so that rows sum to
// the totals.
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/rows.h"

namespace memprof {

// What stats --json has, and {"notes", "figure": the one by which rows are sorted,
// "rows": [{"function", "file", "line", "module", "stacks", "peak": {"bytes", "allocations"},
// "leaked", "total", "temporary" if it is known, "callers": likewise, if rows have them}]}
std::string RowsJson(const Profile& profile, const std::vector<LocationRow>& rows, Figure figure,
                     size_t limit);

// Rows with callers have a column "caller", and a line for each of them.
std::string RowsCsv(const Profile& profile, const std::vector<LocationRow>& rows, size_t limit);

}  // namespace memprof

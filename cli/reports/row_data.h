// Rows by place as JSON and CSV: summary and table for other programs, with the names of `transform
// json`.
//
// `limit` is the largest number of rows; 0: all. The others are one row "[others]", so that rows
// sum to the totals.
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/rows.h"

namespace memprof {

// The object of stats --json with "rows": docs/schemas/rows.json. `figure` is the one that the rows
// are sorted by.
std::string RowsJson(const Profile& profile, const std::vector<LocationRow>& rows, Figure figure,
                     size_t limit);

// Rows with callers have a column "caller", and a line for each caller.
std::string RowsCsv(const Profile& profile, const std::vector<LocationRow>& rows, size_t limit);

}  // namespace memprof

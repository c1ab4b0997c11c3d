// The difference of two captures as JSON and CSV: all rows with all figures, under the names of
// `transform json`.
//
// Thread safety: pure. Bytes that are not UTF-8 become replacement characters in JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/difference/profile_diff.h"

namespace memprof {

// {"schema", "by", "before": {as stats --json}, "after", "difference": {"peak": {"bytes",
//  "allocations"}, "leaked", "total"}, "rows": [{"function", "module", "file", "line",
//  "frames": [{"function", "module"}] by site, innermost first,
//  "peak": {"before": {"bytes", "allocations"}, "after", "difference"}, "leaked", "total",
//  "temporary" where both captures tell it}]}
std::string DiffJson(const Profile& before, const Profile& after, DiffBy by,
                     const std::vector<DiffRow>& rows);

// With the standard errors of the differences, if they are of estimates.
std::string DiffCsv(const Profile& before, const Profile& after, const std::vector<DiffRow>& rows);

}  // namespace memprof

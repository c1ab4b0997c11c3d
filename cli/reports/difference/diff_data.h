// The difference of two captures as JSON and CSV: all rows with all figures, with the names of
// `transform json`.
//
// Thread safety: pure. Bytes that are not UTF-8 become replacement characters in JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/difference/profile_diff.h"
#include "core/profile/renamed_functions.h"

namespace memprof {

// By docs/schemas/diff.json. `renamed`: functions of `before` that have their later names here.
std::string DiffJson(const Profile& before, const Profile& after, DiffBy by,
                     const std::vector<DiffRow>& rows, const std::vector<RenamedFunction>& renamed);

// With the standard errors of the differences, if they are estimates.
std::string DiffCsv(const Profile& before, const Profile& after, const std::vector<DiffRow>& rows);

}  // namespace memprof

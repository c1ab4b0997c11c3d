// The growth report as data for other programs.
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/reports/growth/growth_rows.h"

namespace memprof {

// The object of stats --json with "growth" and "rows": docs/schemas/growth.json.
//
// `limit` is the number of rows; 0: all. The others are one row "[others]", so that sums hold.
std::string GrowthJson(const Profile& profile, const GrowthReport& report, size_t limit,
                       std::optional<uint64_t> limit_bytes);
std::string GrowthCsv(const GrowthReport& report, size_t limit);

}  // namespace memprof

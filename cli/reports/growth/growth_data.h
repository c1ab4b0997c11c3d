// What grows, as data for other programs.
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/reports/growth/growth_rows.h"

namespace memprof {

// `limit`: rows; 0: all. The others are one row "[others]", so that sums stay.
std::string GrowthJson(const Profile& profile, const GrowthReport& report, size_t limit,
                       std::optional<uint64_t> limit_bytes);
std::string GrowthCsv(const GrowthReport& report, size_t limit);

}  // namespace memprof

// StatisticsJson: the figures of `memprof stats`, for the page's statistics (page.h's "statistics").
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>

#include "core/profile/statistics.h"

namespace memprof {

nlohmann::ordered_json StatisticsJson(const Statistics& statistics);

}  // namespace memprof

// The JSON of `stats --json` and `transform json`. Their names are kept: "schema" grows when one
// changes its meaning.
//
// Thread safety: pure. Bytes that are not UTF-8 become replacement characters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/profile.h"

namespace memprof {

// {"schema", "program", "pid", "command", "start", "duration_ms", "end": {"kind", "code"},
//  "peak": {"bytes", "allocations", "time_ms", "time_resolution_ms"}, "leaked", "total",
//  "rss_peak_bytes", "tracker": {…},
//  "timeline": {"interval_ms", "points": [{"time_ms", "heap_bytes", "rss_bytes"}]} or null,
//  "selected": {"moment", "time_ms"} where "peak" is what was live at a moment that was asked for}
std::string StatsJson(const Profile& profile);

// Its parts, for JSON of other reports under the same names.
nlohmann::ordered_json StatsObject(const Profile& profile);
// {"bytes", "allocations"}, of estimates with "standard_error".
nlohmann::ordered_json FigureObject(const Count& count, const Variance& variance, bool estimates);
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace memprof

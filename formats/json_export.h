// The JSON of `stats --json` and `transform json`. Their names are kept: "schema" grows when one
// changes its meaning.
//
// Thread safety: pure. Bytes that are not UTF-8 become replacement characters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/profile/profile.h"

namespace memprof {

// {"schema", "program", "pid", "command", "start", "duration_ms", "end": {"kind", "code"},
//  "peak": {"bytes", "allocations", "time_ms", "time_resolution_ms"}, "leaked", "total",
//  "rss_peak_bytes", "tracker": {…},
//  "timeline": {"interval_ms", "points": [{"time_ms", "heap_bytes", "rss_bytes"}]} or null,
//  "selected": {"moment", "time_ms"} where "peak" is what was live at a moment that was asked for,
//  "sources": [{"program", "pid", "start", "duration_ms", "peak", "leaked", "total"}] of a merge,
//   without the last two of a source that it doesn't keep apart,
//  "processes": {"selected", "shown", "all", "not_apart", "figures_only"} where --process chose
//  some;
//   with "figures_only" what the merge has of all together is left out}
std::string StatsJson(const Profile& profile);

// Its parts, for JSON of other reports under the same names.
nlohmann::ordered_json StatsObject(const Profile& profile);
// {"bytes", "allocations"}, of estimates with "standard_error".
nlohmann::ordered_json FigureObject(const Count& count, const Variance& variance, bool estimates);
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace memprof

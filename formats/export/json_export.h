// The JSON of `stats --json` and `transform json`. docs/schemas describes every property, and
// docs/json.md the promise: names keep their meaning; if one changes, "schema" is incremented.
//
// Thread safety: pure. Bytes that are not UTF-8 become replacement characters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/profile/profile.h"

namespace memprof {

// By docs/schemas/stats.json. With "figures_only" in "processes", the parts that a merge has only for
// all processes together are left out.
std::string StatsJson(const Profile& profile);

// The same object, for JSON of other reports with the same names.
nlohmann::ordered_json StatsObject(const Profile& profile);
// {"bytes", "allocations"}; estimates also have "standard_error".
nlohmann::ordered_json CountObject(const Count& count);
nlohmann::ordered_json FigureObject(const Count& count, const Variance& variance, bool estimates);
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace memprof

// The page's data over time: "timeline", "moments" and "history" (page.h).
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/web/page_tree.h"
#include "core/profile/profile.h"
#include "core/snapshot/history.h"

namespace memprof {

// Adds the members that the profile has data for. The history takes at most `max_bytes`: if it is
// larger, every second moment is dropped.
void AddHistory(const Profile& profile, const PageTree& tree, size_t max_bytes,
                nlohmann::ordered_json& data);

}  // namespace memprof

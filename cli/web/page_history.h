// The page's data of what was over time: "timeline", "moments" and "history" (page.h).
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/web/page_tree.h"
#include "core/profile/profile.h"
#include "core/snapshot/history.h"

namespace memprof {

// Adds the members for what the profile has. The history takes at most `max_bytes`: above, every
// second moment goes.
void AddHistory(const Profile& profile, const PageTree& tree, size_t max_bytes,
                nlohmann::ordered_json& data);

}  // namespace memprof

// HeldJson: what an inspection found, for the page's view of it (page.h's "inspection").
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>

#include "core/profile/profile.h"

namespace memprof {

// Null without an inspection.
nlohmann::ordered_json HeldJson(const Profile& profile);

}  // namespace memprof

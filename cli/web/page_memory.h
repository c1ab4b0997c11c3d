// AddMemory: adds to a page's data what the program mapped itself, and where its resident memory was
// (page.h's "mapped" and "rss").
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>

#include "core/profile/profile.h"

namespace memprof {

void AddMemory(const Profile& profile, nlohmann::ordered_json& data);

}  // namespace memprof

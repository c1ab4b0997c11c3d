// Location: where a site's memory is said to come from. The innermost frame is often plumbing
// (operator new, std::vector, strdup); people look for their own function.
//
// The rule: the innermost frame that ClassifyFrame does not take for system code; where there is
// none, the innermost frame. Figures are never moved by it: it only names a row.
//
// Thread safety: pure.
#pragma once

#include <cstdint>

#include "core/profile/profile.h"

namespace memprof {

// The node of the location. Pre: the site is the profile's.
uint32_t LocationOf(const Profile& profile, const ProfileSite& site);

}  // namespace memprof

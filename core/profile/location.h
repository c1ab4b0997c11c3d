// Location: the frame by which a report names a site. The innermost frame is often plumbing
// (operator new, std::vector, strdup), but people look for their own function.
//
// The rule: the innermost frame that ClassifyFrame doesn't call system code. If there is none, the
// innermost frame. In a stack with Python functions an extension's frames are plumbing as well (an array's
// memory is allocated by numpy, and the line that makes the array is looked for): there it is the
// innermost such frame that is a Python function, or in the executable. The location only names a
// row: it never moves a figure.
//
// Thread safety: pure.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/profile/profile.h"

namespace memprof {

// The node of the location. Pre: the site is the profile's.
uint32_t LocationOf(const Profile& profile, const ProfileSite& site);

// By what a row is named: sites with equal ones are in one row.
struct PlaceKey {
  std::string function, file;
  uint32_t line;
  std::string module;  // path; empty: none
  auto operator<=>(const PlaceKey&) const = default;
};

// The root's name is "[no stack]".
PlaceKey PlaceKeyOf(const Profile& profile, uint32_t node);

// Indices in `all`, grouped by the keys of the sites' locations, in the keys' order.
std::vector<std::vector<uint32_t>> PlacesOf(const Profile& profile,
                                            const std::vector<ProfileSite>& all,
                                            std::span<const uint32_t> sites);

}  // namespace memprof

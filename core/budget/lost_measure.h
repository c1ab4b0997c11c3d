// What an inspection called lost, by site: for the budgets' `lost`.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/budget/measurement.h"
#include "core/count.h"
#include "core/profile/profile.h"

namespace memprof {

// For each site what is lost of its stack. Of sites that differ in thread or kind only, the first has
// it all: an inspection doesn't tell them apart.
std::vector<Count> LostBySite(const Profile& profile);

// In bytes. Not judged without an inspection, or if it knows lost blocks that no site has.
Measurement MeasureLost(const Profile& profile, std::span<const uint32_t> sites);

}  // namespace memprof

// How many bytes an hour sites grow by: the sum over the stacks of which core/profile/growth.h is
// sure that they grow. A cache that levels off, a pool that swings, and what the data can't tell
// are none of it.
//
// The bound is how far the slopes lie above the lower end of their confidence intervals. Not known
// where the capture has too few moments for a verdict.
// Thread safety: pure. Cost: a millisecond for each stack that moves.
#pragma once

#include <cstdint>
#include <span>

#include "core/budget/measurement.h"
#include "core/profile/profile.h"

namespace memprof {

Measurement MeasureGrowth(const Profile& profile, std::span<const uint32_t> sites);

}  // namespace memprof

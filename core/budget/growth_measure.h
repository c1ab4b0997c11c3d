// How many bytes an hour sites grow by: the sum over the places that core/profile/place_growth.h
// calls growing, so that the program's figure is the total of memprof growth. A cache that levels
// off, a pool that swings and undecided stacks add nothing.
//
// The bound is the distance from the slopes to the lower ends of their confidence intervals. A
// capture with too few moments for a verdict has no such figure.
// Thread safety: pure. Cost: a millisecond for each stack that moves.
#pragma once

#include <cstdint>
#include <span>

#include "core/budget/measurement.h"
#include "core/profile/profile.h"

namespace memprof {

Measurement MeasureGrowth(const Profile& profile, std::span<const uint32_t> sites);

}  // namespace memprof

// SmallPlaces: judges places together that are too small to be judged one by one: those of a
// function, those that a function calls, those of a module. Each place is in the first group that
// grows.
//
// Invariant: a group is judged with all of its small places, whether they rise or not: the sum of
// only those that rise would always rise. Thread safety: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/profile/place_growth.h"

namespace memprof {

// `places` are the indices in `all` of each place's sites, `growths` their verdicts, which are
// changed.
void JudgeSmallPlaces(const Profile& profile, const std::vector<ProfileSite>& all,
                      std::span<const std::vector<uint32_t>> places,
                      std::span<const uint64_t> times_ms, const GrowthOptions& options,
                      std::vector<PlaceGrowth>& growths);

}  // namespace memprof

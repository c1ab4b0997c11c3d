#include "core/budget/growth_measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/profile/location.h"
#include "core/profile/place_growth.h"

namespace memprof {

Measurement MeasureGrowth(const Profile& profile, std::span<const uint32_t> sites) {
  Measurement growth;
  const size_t moments = profile.moments.at.size();
  if (moments < kFewestGrowthMoments) {
    growth.why_not = fmt::format("the capture has {} moments, and growth needs {}", moments,
                                 kFewestGrowthMoments);
    return growth;
  }
  const PlaceJudge judge(profile, WindowOf(profile));
  for (const PlaceGrowth& place : judge.Judge(PlacesOf(profile, profile.sites, sites))) {
    if (place.growth.verdict != GrowthVerdict::kGrows) continue;
    growth.value += place.growth.bytes_per_hour;
    growth.bound += std::max(0.0, place.growth.bytes_per_hour - place.growth.low);
  }
  return growth;
}

}  // namespace memprof

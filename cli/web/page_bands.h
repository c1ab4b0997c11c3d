// PageBands: how much the functions that hold most had live at each moment of the profile's history,
// for the page's stacked timeline.
//
//   moment        0    1    2
//   parse       100  900  100
//   load         50   50   60
//   others        1    2    3     all functions without a band together
//   ───────────────────────────
//   live        151  952  163
//
// A block is counted by the innermost function that is no system code, as in PageFunctions::located.
// The functions with bands are those with the highest figure at any moment, some by bytes and some by
// allocations. They have both figures.
//
// Invariant: at each moment the bands and the others sum to what all sites had live.
//
// Thread safety: plain values. The same profile gives the same bands. Memory: 8 bytes for each site,
// and 16 for each moment of a band.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/web/merged_tree.h"
#include "core/profile/profile.h"

namespace memprof {

struct PageBand {
  FunctionName function;
  std::vector<Count> live;  // at each of the profile's moments
};

struct PageBands {
  // Those with the highest figures by bytes first, then those by allocations.
  std::vector<PageBand> bands;
  std::vector<Count> others;   // empty: the profile has no moments
  size_t sources_without = 0;  // of a merge: those without moments, whose blocks aren't in here
};

inline constexpr size_t kBandsByMeasure = 8;

// `merged` is the profile's.
PageBands MakePageBands(const Profile& profile, const MergedTree& merged);

}  // namespace memprof

// PlaceGrowth: judges places by their stacks. A place is a set of sites that a report has in one
// row, such as a factory that a cache and a leak share. The sum of the two would hide the leak, so
// each stack is judged by itself (core/profile/growth.h):
//
//   place   Make()                                the sum levels off
//   stacks    ← Cache::Fill    ─ · '¯¯¯¯¯¯        levels off
//             ← Session::Open  . · ' .  · '       grows: so the place does, at this stack's rate
//
//   1. Stacks that are too small or too noisy to be judged one by one are judged together: those
//      that a call site calls, those that a function calls, and so on outwards, up to the place. A
//      group is judged with all of its stacks that don't grow by themselves, whether they rise or
//      not: the sum of only those that rise would always rise.
//   2. If the other stacks fall while some rise, they replace each other, as in a cache that is
//      full. The sum decides then.
//   3. Places below the floor are judged together: those of a function, those that a function
//      calls, those of a module. Each that takes part in the rise is called growing.
//
// memprof growth and the budgets' growth_per_hour are both sums of these figures.
//
// Thread safety: pure. Cost: a millisecond for each stack and group that moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/profile/growth.h"
#include "core/profile/profile.h"

namespace memprof {

// The judged part of a profile's moments: [from, to).
struct GrowthWindow {
  size_t from = 0, to = 0;
  std::vector<uint64_t> times_ms = {};  // of all moments

  std::span<const uint64_t> Times() const { return std::span(times_ms).subspan(from, to - from); }
  std::vector<uint64_t> BytesOf(const LiveHistory& history) const;
  std::vector<uint64_t> BlocksOf(const LiveHistory& history) const;
};

// All moments since `since_ms`; in a profile with a chosen moment up to that one.
GrowthWindow WindowOf(const Profile& profile, uint64_t since_ms = 0);

// The profile's mappings with their histories, in the form of sites, to be judged as these are.
// Address space that is only reserved is left out: it takes no memory.
std::vector<ProfileSite> MappingsAsSites(const Profile& profile);

struct PlaceGrowth {
  Growth growth;                 // of the part that grows, or of the whole if none does
  std::vector<uint32_t> sites;   // that part's or the whole's; ascending
  std::vector<uint64_t> series;  // live bytes of the whole at the window's moments
};

// The profile must outlive it.
class PlaceJudge {
 public:
  // The floor and the number of series that are judged at once are those of the whole profile,
  // whatever places are judged.
  PlaceJudge(const Profile& profile, GrowthWindow window);
  // Judges the profile's mappings in place of its heap: `mappings` are MappingsAsSites, which must
  // outlive it.
  PlaceJudge(const Profile& profile, const std::vector<ProfileSite>& mappings, GrowthWindow window);

  // In the order of `places`; each has the indices of its sites, and no site is in two of them.
  std::vector<PlaceGrowth> Judge(std::span<const std::vector<uint32_t>> places) const;

  double floor_bytes() const { return options_.floor_bytes; }
  // Live bytes of all sites at the window's moments.
  const std::vector<uint64_t>& program() const { return program_; }

 private:
  PlaceJudge(const Profile& profile, const std::vector<ProfileSite>& all, bool estimates,
             GrowthWindow window);
  PlaceGrowth JudgeOne(const std::vector<uint32_t>& sites) const;

  const Profile& profile_;
  const std::vector<ProfileSite>& all_;
  const bool estimates_;
  GrowthWindow window_;
  GrowthOptions options_;
  std::vector<uint64_t> program_;
  std::vector<uint32_t> function_of_frame_;  // equal numbers: functions of the same name
};

}  // namespace memprof

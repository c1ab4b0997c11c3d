#include "core/profile/small_places.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/profile/location.h"

namespace memprof {
namespace {

constexpr size_t kFewestPlaces = 8;  // fewer are worth no row even together

using ByName = std::map<std::string, std::vector<size_t>>;

std::vector<uint64_t> SumOfSeries(const std::vector<PlaceGrowth>& places,
                                  std::span<const size_t> of) {
  std::vector<uint64_t> sum(places[of[0]].series.size(), 0);
  for (const size_t at : of) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += places[at].series[i];
  }
  return sum;
}

// Whether a small place takes part in the rise that its group was found to have: it never comes
// back to what it had in the first third.
bool TakesPart(std::span<const uint64_t> bytes) {
  const size_t third = bytes.size() / 3;
  if (third == 0) return false;
  const auto first = bytes.first(third), last = bytes.last(third);
  return *std::max_element(first.begin(), first.end()) <
         *std::min_element(last.begin(), last.end());
}

struct PlaceNames {
  std::string function, caller, module;
};

// The caller is that of the heaviest stack.
PlaceNames NamesOf(const Profile& profile, const std::vector<ProfileSite>& all,
                   std::span<const uint32_t> sites) {
  const uint32_t heaviest = *std::max_element(
      sites.begin(), sites.end(),
      [&](uint32_t a, uint32_t b) { return all[a].peak.bytes < all[b].peak.bytes; });
  const uint32_t node = LocationOf(profile, all[heaviest]);
  if (node == 0) return {};
  const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
  PlaceNames names;
  names.function = frame.function;
  if (frame.module < profile.modules.size()) names.module = profile.modules[frame.module].path;
  const uint32_t above = profile.nodes[node].parent;
  if (above != 0) names.caller = profile.frames[profile.nodes[above].frame].function;
  return names;
}

void JudgeGroups(const ByName& groups, const char* reason, std::span<const uint64_t> times_ms,
                 GrowthOptions options, std::vector<PlaceGrowth>& growths) {
  options.judged += groups.size();
  for (const auto& [name, members] : groups) {
    std::vector<size_t> left;
    for (const size_t i : members) {
      if (growths[i].growth.verdict != GrowthVerdict::kGrows) left.push_back(i);
    }
    if (left.size() < kFewestPlaces) continue;
    const std::vector<uint64_t> sum = SumOfSeries(growths, left);
    if (!ExceedsFloor(sum, options.floor_bytes)) continue;
    if (JudgeGrowth(times_ms, sum, options).verdict != GrowthVerdict::kGrows) continue;
    for (const size_t i : left) {
      if (!TakesPart(growths[i].series)) continue;
      GrowthOptions of_place = options;
      of_place.floor_bytes = 1;
      growths[i].growth = JudgeGrowth(times_ms, growths[i].series, of_place);
      growths[i].growth.verdict = GrowthVerdict::kGrows;
      growths[i].growth.reason = reason;
    }
  }
}

}  // namespace

void JudgeSmallPlaces(const Profile& profile, const std::vector<ProfileSite>& all,
                      std::span<const std::vector<uint32_t>> places,
                      std::span<const uint64_t> times_ms, const GrowthOptions& options,
                      std::vector<PlaceGrowth>& growths) {
  ByName functions, callers, modules;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].empty() || all[places[i][0]].runtime_reason != nullptr) continue;
    if (growths[i].growth.verdict == GrowthVerdict::kGrows ||
        ExceedsFloor(growths[i].series, options.floor_bytes)) {
      continue;
    }
    const PlaceNames names = NamesOf(profile, all, places[i]);
    functions[names.function + '\n' + names.module].push_back(i);
    callers[names.caller + '\n' + names.module].push_back(i);
    modules[names.module].push_back(i);
  }
  const auto judge = [&](const ByName& groups, const char* reason) {
    JudgeGroups(groups, reason, times_ms, options, growths);
  };
  judge(functions, "small, and grows with the other places of its function");
  judge(callers, "small, and grows with others that its caller calls");
  judge(modules, "small, and grows with others of its module");
}

}  // namespace memprof

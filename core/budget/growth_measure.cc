#include "core/budget/growth_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/profile/growth.h"

namespace memprof {
namespace {

// A stack's sites differ by thread and, while sampling, by size.
struct StackHistory {
  LiveHistory history;
  double variance = 0;  // of what is live at the end
};

}  // namespace

Measurement MeasureGrowth(const Profile& profile, std::span<const uint32_t> sites) {
  Measurement growth;
  const size_t moments = profile.moments.at.size();
  if (moments < kFewestGrowthMoments) {
    growth.why_not = fmt::format("the capture has {} moments, and growth needs {}", moments,
                                 kFewestGrowthMoments);
    return growth;
  }
  std::map<uint32_t, StackHistory> stacks;
  for (const uint32_t index : sites) {
    const ProfileSite& site = profile.sites[index];
    StackHistory& stack = stacks[site.node];
    stack.history = SumOf(stack.history, site.history);
    stack.variance += site.variances.leaked.bytes;
  }
  const std::vector<uint64_t> times = TimesOf(profile.moments);
  GrowthOptions options;
  options.floor_bytes = GrowthFloor(profile.peak.bytes);
  const auto moves = [&](const auto& stack) {
    return ExceedsFloor(LiveBytesOf(stack.second.history, moments), options.floor_bytes);
  };
  options.judged =
      std::max<size_t>(1, static_cast<size_t>(std::count_if(stacks.begin(), stacks.end(), moves)));
  for (const auto& [node, stack] : stacks) {
    options.standard_error_bytes = std::sqrt(stack.variance);
    const Growth one = JudgeGrowth(times, LiveBytesOf(stack.history, moments), options);
    if (one.verdict != GrowthVerdict::kGrows) continue;
    growth.value += one.bytes_per_hour;
    growth.bound += std::max(0.0, one.bytes_per_hour - one.low);
  }
  return growth;
}

}  // namespace memprof

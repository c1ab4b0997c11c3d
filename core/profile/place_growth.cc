#include "core/profile/place_growth.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/profile/location.h"
#include "core/profile/small_places.h"
#include "core/profile/trend.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

// Stacks that fall by this part of what others rise by replace them.
constexpr double kReplaced = 0.5;

std::vector<uint64_t> Part(const std::vector<uint64_t>& all, size_t from, size_t to) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from),
          all.begin() + static_cast<std::ptrdiff_t>(to)};
}

// Sums pairwise, so that a place with many sites takes no longer for each of them.
LiveHistory SumOfSites(const std::vector<ProfileSite>& all, std::span<const uint32_t> sites) {
  if (sites.empty()) return {};
  if (sites.size() == 1) return all[sites[0]].history;
  const size_t half = sites.size() / 2;
  return SumOf(SumOfSites(all, sites.first(half)), SumOfSites(all, sites.subspan(half)));
}

// Sites of one stack differ by thread, by the allocator's function and, while sampling, by size.
std::map<uint32_t, std::vector<uint32_t>> ByStack(const std::vector<ProfileSite>& all,
                                                  std::span<const uint32_t> sites) {
  std::map<uint32_t, std::vector<uint32_t>> stacks;
  for (const uint32_t site : sites) stacks[all[site].node].push_back(site);
  return stacks;
}

std::vector<uint32_t> Indices(size_t count) {
  std::vector<uint32_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

// Whether the `rest` of a place falls while a part rises by `bytes_per_hour`.
bool Replaces(std::span<const uint64_t> times_ms, std::span<const uint64_t> rest,
              double bytes_per_hour) {
  std::vector<double> hours, bytes;
  for (const uint64_t time : times_ms) hours.push_back(static_cast<double>(time) / 3600e3);
  for (const uint64_t live : rest) bytes.push_back(static_cast<double>(live));
  const Trend trend = TrendOf(hours, bytes);
  return trend.high < 0 && -trend.slope >= kReplaced * bytes_per_hour;
}

// A stack of a place, by its way outwards from the place.
struct Stack {
  // For each frame its function, then the frame: call sites of one function are neighbours.
  std::vector<uint32_t> path;
  std::vector<uint32_t> sites;
};

// Finds the stacks of a place that grow.
class GrowingStacks {
 public:
  // `sample_bytes`: 0 if the sites are exact.
  GrowingStacks(const std::vector<ProfileSite>& all, uint64_t sample_bytes,
                const GrowthWindow& window, const GrowthOptions& options)
      : all_(all), sample_bytes_(sample_bytes), window_(window), options_(options) {}

  Growth JudgeSites(std::span<const uint32_t> sites) const {
    const LiveHistory history = SumOfSites(all_, sites);
    GrowthOptions options = options_;
    if (sample_bytes_ != 0 && window_.from != window_.to) {
      Variance variance;
      for (const uint32_t site : sites) {
        variance += VarianceOf(LiveAt(all_[site].history, static_cast<uint32_t>(window_.to - 1)),
                               sample_bytes_);
      }
      options.standard_error_bytes = static_cast<double>(StandardError(variance).bytes);
    }
    return JudgeGrowth(window_.Times(), window_.BytesOf(history), options,
                       window_.BlocksOf(history));
  }

  // Returns those of `stacks` that grow. Pre: sorted by path, equal up to `depth`.
  std::vector<const Stack*> In(std::span<const Stack> stacks, size_t depth) const {
    std::vector<const Stack*> all, growing;
    for (const Stack& stack : stacks) all.push_back(&stack);
    if (stacks.size() == 1) return Grow(all) ? all : growing;
    // Sorted by path, all are equal where the first and the last are.
    const auto& first = stacks.front().path;
    const auto& last = stacks.back().path;
    while (depth < first.size() && depth < last.size() && first[depth] == last[depth]) ++depth;
    for (size_t from = 0, to = 0; from < stacks.size(); from = to) {
      const auto step = [&](size_t i) {
        return depth < stacks[i].path.size() ? int64_t{stacks[i].path[depth]} : int64_t{-1};
      };
      while (to < stacks.size() && step(to) == step(from)) ++to;
      const auto part = In(stacks.subspan(from, to - from), depth + 1);
      growing.insert(growing.end(), part.begin(), part.end());
    }
    std::vector<const Stack*> left;
    std::set_difference(all.begin(), all.end(), growing.begin(), growing.end(),
                        std::back_inserter(left));
    if (!left.empty() && Grow(left)) return all;
    return growing;
  }

 private:
  bool Grow(const std::vector<const Stack*>& stacks) const {
    std::vector<uint32_t> sites;
    for (const Stack* stack : stacks) {
      sites.insert(sites.end(), stack->sites.begin(), stack->sites.end());
    }
    return JudgeSites(sites).verdict == GrowthVerdict::kGrows;
  }

  const std::vector<ProfileSite>& all_;
  const uint64_t sample_bytes_;
  const GrowthWindow& window_;
  const GrowthOptions& options_;
};

std::vector<Stack> StacksOf(const Profile& profile, const std::vector<ProfileSite>& all,
                            std::span<const uint32_t> sites,
                            const std::vector<uint32_t>& function_of_frame) {
  std::vector<Stack> stacks;
  for (auto& [node, of_stack] : ByStack(all, sites)) {
    Stack stack;
    const auto add = [&](uint32_t at) {
      const uint32_t frame = profile.nodes[at].frame;
      stack.path.push_back(function_of_frame[frame]);
      stack.path.push_back(frame);
    };
    const uint32_t place = LocationOf(profile, all[of_stack[0]]);
    for (const uint32_t at : PathToRoot(profile.nodes, place)) add(at);
    for (const uint32_t at : PathToRoot(profile.nodes, node)) {
      if (at == place) break;
      add(at);
    }
    stack.sites = std::move(of_stack);
    stacks.push_back(std::move(stack));
  }
  std::sort(stacks.begin(), stacks.end(),
            [](const Stack& a, const Stack& b) { return a.path < b.path; });
  return stacks;
}

}  // namespace

std::vector<uint64_t> GrowthWindow::BytesOf(const LiveHistory& history) const {
  return Part(LiveBytesOf(history, times_ms.size()), from, to);
}

std::vector<uint64_t> GrowthWindow::BlocksOf(const LiveHistory& history) const {
  return Part(LiveBlocksOf(history, times_ms.size()), from, to);
}

GrowthWindow WindowOf(const Profile& profile, uint64_t since_ms) {
  GrowthWindow window;
  window.times_ms = TimesOf(profile.moments);
  const bool until = profile.chosen && (profile.chosen->kind == MomentSelector::Kind::kTime ||
                                        profile.chosen->kind == MomentSelector::Kind::kNamed);
  for (const uint64_t time : window.times_ms) {
    if (time < since_ms) ++window.from;
    if (!until || time <= profile.chosen->time_ms) ++window.to;
  }
  window.from = std::min(window.from, window.to);
  return window;
}

std::vector<ProfileSite> MappingsAsSites(const Profile& profile) {
  std::vector<ProfileSite> sites;
  for (const SnapshotMapping& row : profile.mappings.rows) {
    if (row.reserved) continue;
    ProfileSite& site = sites.emplace_back();
    site.node = row.node;
    site.thread_name = row.thread_name;
    site.peak = row.peak;
    site.leaked = row.leaked;
    site.total = row.total;
    site.history = row.history;
  }
  return sites;
}

PlaceJudge::PlaceJudge(const Profile& profile, GrowthWindow window)
    : PlaceJudge(profile, profile.sites, profile.tracker.sample_bytes != 0, std::move(window)) {}

PlaceJudge::PlaceJudge(const Profile& profile, const std::vector<ProfileSite>& mappings,
                       GrowthWindow window)
    : PlaceJudge(profile, mappings, false, std::move(window)) {}

PlaceJudge::PlaceJudge(const Profile& profile, const std::vector<ProfileSite>& all, bool estimates,
                       GrowthWindow window)
    : profile_(profile), all_(all), estimates_(estimates), window_(std::move(window)) {
  const std::vector<uint32_t> indices = Indices(all.size());
  program_ = window_.BytesOf(SumOfSites(all, indices));
  options_.floor_bytes =
      GrowthFloor(program_.empty() ? 0 : *std::max_element(program_.begin(), program_.end()));
  options_.judged = 0;
  for (const auto& [node, sites] : ByStack(all, indices)) {
    const std::vector<uint64_t> bytes = window_.BytesOf(SumOfSites(all, sites));
    if (ExceedsFloor(bytes, options_.floor_bytes)) ++options_.judged;
  }
  std::unordered_map<std::string_view, uint32_t> functions;
  for (const ProfileFrame& frame : profile.frames) {
    const auto number = static_cast<uint32_t>(functions.size());
    function_of_frame_.push_back(functions.try_emplace(frame.function, number).first->second);
  }
}

PlaceGrowth PlaceJudge::JudgeOne(const std::vector<uint32_t>& sites) const {
  PlaceGrowth place;
  place.sites = sites;
  place.series = window_.BytesOf(SumOfSites(all_, sites));
  const GrowingStacks judge(all_, estimates_ ? profile_.tracker.sample_bytes : 0, window_,
                            options_);
  place.growth = judge.JudgeSites(sites);
  const bool whole_grows = place.growth.verdict == GrowthVerdict::kGrows;
  const bool too_few = window_.to - window_.from < kFewestGrowthMoments;
  const std::vector<Stack> stacks =
      too_few || sites.size() == 1 || all_[sites[0]].runtime_reason != nullptr
          ? std::vector<Stack>()
          : StacksOf(profile_, all_, sites, function_of_frame_);
  if (stacks.size() < 2) return place;

  const std::vector<const Stack*> growing = judge.In(stacks, 0);
  if (growing.empty() || (whole_grows && growing.size() == stacks.size())) return place;
  std::vector<uint32_t> part;
  for (const Stack* stack : growing) {
    part.insert(part.end(), stack->sites.begin(), stack->sites.end());
  }
  std::sort(part.begin(), part.end());
  Growth of_part = judge.JudgeSites(part);
  std::vector<uint64_t> rest = window_.BytesOf(SumOfSites(all_, part));
  for (size_t i = 0; i < rest.size(); ++i) rest[i] = place.series[i] - rest[i];
  const size_t from = of_part.warm_up;
  if (Replaces(window_.Times().subspan(from), std::span(rest).subspan(from),
               of_part.bytes_per_hour)) {
    return place;
  }
  if (of_part.verdict != GrowthVerdict::kGrows || !whole_grows) {
    of_part.verdict = GrowthVerdict::kGrows;
    of_part.reason = "some of its stacks rise steadily";
  }
  place.growth = of_part;
  place.sites = std::move(part);
  return place;
}

std::vector<PlaceGrowth> PlaceJudge::Judge(std::span<const std::vector<uint32_t>> places) const {
  std::vector<PlaceGrowth> growths;
  growths.reserve(places.size());
  for (const std::vector<uint32_t>& sites : places) growths.push_back(JudgeOne(sites));
  if (!estimates_) {
    JudgeSmallPlaces(profile_, all_, places, window_.Times(), options_, growths);
  }
  return growths;
}

}  // namespace memprof

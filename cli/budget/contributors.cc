#include "cli/budget/contributors.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/budget/lost_measure.h"
#include "core/profile/location.h"
#include "core/profile/place_growth.h"

namespace memprof {
namespace {

constexpr size_t kMostContributors = 10;
constexpr size_t kGrown = 5;

// The profile reduced to these sites, for the difference of two profiles. Sites without the figure
// are left out, so that they don't make the line of a row ambiguous.
Profile OnlySites(const Profile& profile, std::span<const uint32_t> sites, Figure figure) {
  Profile only;
  only.program = profile.program;
  only.modules = profile.modules;
  only.frames = profile.frames;
  only.nodes = profile.nodes;
  only.thread_names = profile.thread_names;
  for (const uint32_t index : sites) {
    if (FigureOf(profile.sites[index], figure) == Count()) continue;
    ProfileSite site = profile.sites[index];
    site.history.clear();
    only.sites.push_back(std::move(site));
  }
  return only;
}

// The slope of each stack that grows, in bytes an hour, in place of its bytes. A place that is
// judged as a group is split by how much its stacks rose.
Profile OnlySlopes(const Profile& profile, std::span<const uint32_t> sites, Figure figure) {
  Profile only = OnlySites(profile, {}, figure);
  const GrowthWindow window = WindowOf(profile);
  const PlaceJudge judge(profile, window);
  for (const PlaceGrowth& place : judge.Judge(PlacesOf(profile, profile.sites, sites))) {
    if (place.growth.verdict != GrowthVerdict::kGrows || place.sites.empty()) continue;
    std::vector<double> rises;
    double whole = 0;
    for (const uint32_t site : place.sites) {
      const auto series = window.BytesOf(profile.sites[site].history);
      const double rise =
          series.empty() || series.back() <= series.front()
              ? 0
              : static_cast<double>(series.back()) - static_cast<double>(series.front());
      rises.push_back(rise);
      whole += rise;
    }
    for (size_t i = 0; i < rises.size(); ++i) {
      const double share = whole > 0 ? rises[i] / whole : 1.0 / static_cast<double>(rises.size());
      ProfileSite site = profile.sites[place.sites[i]];
      site.history.clear();
      for (const Figure other : kAllFigures) FigureOf(site, other) = {};
      const double slope = share * place.growth.bytes_per_hour;
      FigureOf(site, figure).bytes = static_cast<uint64_t>(std::llround(slope));
      if (slope >= 0.5) only.sites.push_back(std::move(site));
    }
  }
  return only;
}

// The stacks' figures are what is lost of each.
Profile OnlyLost(const Profile& profile, std::span<const uint32_t> sites, Figure figure) {
  Profile only = OnlySites(profile, {}, figure);
  const std::vector<Count> lost = LostBySite(profile);
  for (const uint32_t index : sites) {
    if (lost[index] == Count()) continue;
    ProfileSite site = profile.sites[index];
    site.history.clear();
    for (const Figure other : kAllFigures) FigureOf(site, other) = {};
    FigureOf(site, figure) = lost[index];
    only.sites.push_back(std::move(site));
  }
  return only;
}

Profile ReducedTo(LimitRows rows, const Profile& profile, std::span<const uint32_t> sites,
                  Figure figure) {
  switch (rows) {
    case LimitRows::kSlopes:
      return OnlySlopes(profile, sites, figure);
    case LimitRows::kLost:
      return OnlyLost(profile, sites, figure);
    case LimitRows::kFigure:
      break;
  }
  return OnlySites(profile, sites, figure);
}

}  // namespace

Contributors ContributorsTo(const LimitVerdict& verdict, const Profile& now,
                            const Profile* before) {
  const LimitKind& kind = *verdict.limit->kind;
  const Profile after = ReducedTo(kind.rows, now, verdict.sites, kind.figure);
  const Profile baseline = before == nullptr
                               ? Profile()
                               : ReducedTo(kind.rows, *before, verdict.baseline_sites, kind.figure);
  std::vector<DiffRow> rows =
      DiffRows(baseline, after, DiffBy::kSite, kind.figure,
               kind.by_allocations ? DiffSort::kAllocations : DiffSort::kBytes);
  const auto weight = [&](const DiffRow& row) { return WeightOf(kind, row.after); };
  const auto grown = [&](const DiffRow& row) { return weight(row) > WeightOf(kind, row.before); };
  std::erase_if(rows, [&](const DiffRow& row) {
    return weight(row) == 0 && WeightOf(kind, row.before) == 0;
  });
  // DiffRows has the largest changes first. A decrease explains nothing.
  auto heaviest = rows.begin();
  if (before != nullptr) {
    heaviest = std::stable_partition(rows.begin(), rows.end(), grown);
    heaviest =
        std::min(heaviest, rows.begin() + std::min<ptrdiff_t>(kGrown, heaviest - rows.begin()));
  }
  std::stable_sort(heaviest, rows.end(),
                   [&](const DiffRow& a, const DiffRow& b) { return weight(a) > weight(b); });
  Contributors contributors;
  for (DiffRow& row : rows) {
    if (contributors.rows.size() < kMostContributors) {
      contributors.rows.push_back(std::move(row));
      continue;
    }
    ++contributors.others;
    AddFigures(contributors.others_before, row.before);
    AddFigures(contributors.others_after, row.after);
    contributors.others_before.variances += row.before.variances;
    contributors.others_after.variances += row.after.variances;
  }
  return contributors;
}

}  // namespace memprof

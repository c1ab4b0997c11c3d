#include "cli/budget/behind.h"

#include <algorithm>
#include <span>
#include <utility>

namespace memprof {
namespace {

constexpr size_t kRows = 10;
constexpr size_t kGrown = 5;

// What the difference of two profiles looks at, of some sites only; without those that have nothing
// of the figure, so that a row's line isn't doubtful for them.
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

}  // namespace

Behind StacksBehind(const LimitVerdict& verdict, const Profile& now, const Profile* before) {
  const LimitKind& kind = *verdict.limit->kind;
  const Profile after = OnlySites(now, verdict.sites, kind.figure);
  const Profile baseline =
      before == nullptr ? Profile() : OnlySites(*before, verdict.baseline_sites, kind.figure);
  std::vector<DiffRow> rows =
      DiffRows(baseline, after, DiffBy::kSite, kind.figure,
               kind.by_allocations ? DiffSort::kAllocations : DiffSort::kBytes);
  const auto weight = [&](const DiffRow& row) { return WeightOf(kind, row.after); };
  const auto grown = [&](const DiffRow& row) { return weight(row) > WeightOf(kind, row.before); };
  std::erase_if(rows, [&](const DiffRow& row) {
    return weight(row) == 0 && WeightOf(kind, row.before) == 0;
  });
  // DiffRows has the largest changes first; a change downwards explains nothing.
  auto heaviest = rows.begin();
  if (before != nullptr) {
    heaviest = std::stable_partition(rows.begin(), rows.end(), grown);
    heaviest =
        std::min(heaviest, rows.begin() + std::min<ptrdiff_t>(kGrown, heaviest - rows.begin()));
  }
  std::stable_sort(heaviest, rows.end(),
                   [&](const DiffRow& a, const DiffRow& b) { return weight(a) > weight(b); });
  Behind behind;
  for (DiffRow& row : rows) {
    if (behind.rows.size() < kRows) {
      behind.rows.push_back(std::move(row));
      continue;
    }
    ++behind.others;
    AddFigures(behind.others_before, row.before);
    AddFigures(behind.others_after, row.after);
    behind.others_before.variances += row.before.variances;
    behind.others_after.variances += row.after.variances;
  }
  return behind;
}

}  // namespace memprof

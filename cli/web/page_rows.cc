#include "cli/web/page_rows.h"

#include <algorithm>
#include <utility>

namespace memprof {
namespace {

// The page's index of each thread name of the profile; `kept` threads stay separate.
std::vector<uint32_t> Renumbered(const Profile& profile, const std::vector<uint32_t>& by_weight,
                                 size_t kept, std::vector<std::string>& names) {
  names.clear();
  std::vector<uint32_t> index(profile.thread_names.size());
  for (size_t i = 0; i < by_weight.size(); ++i) {
    if (i < kept) {
      names.push_back(profile.thread_names[by_weight[i]]);
    } else if (i == kept) {
      names.emplace_back(kOtherThreads);
    }
    index[by_weight[i]] = static_cast<uint32_t>(std::min(i, kept));
  }
  return index;
}

// Heaviest first: by the largest share of any figure.
std::vector<uint32_t> ThreadsByWeight(const Profile& profile) {
  std::vector<double> weight(profile.thread_names.size());
  std::vector<bool> seen(weight.size(), false);
  for (const Figure figure : kAllFigures) {
    const uint64_t whole = FigureOf(profile, figure).bytes;
    std::vector<double> shares(weight.size());
    for (const ProfileSite& site : profile.sites) {
      if (site.thread_name >= seen.size()) continue;
      seen[site.thread_name] = true;
      if (whole == 0) continue;
      shares[site.thread_name] +=
          static_cast<double>(FigureOf(site, figure).bytes) / static_cast<double>(whole);
    }
    for (size_t i = 0; i < weight.size(); ++i) weight[i] = std::max(weight[i], shares[i]);
  }
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
  return order;
}

bool HasFigure(const ProfileSite& site) {
  return site.peak != Count{} || site.leaked != Count{} || site.total != Count{};
}

// A row of one site: of the whole profile or of a process.
template <typename From>
PageRow RowOf(const Profile& profile, const PageTree& tree, const PageRows& page, size_t site,
              const From& figures) {
  const uint32_t name = profile.sites[site].thread_name;
  PageRow row;
  row.node = tree.node_of_site[site];
  row.thread = name < page.thread_of.size() ? page.thread_of[name] : 0;
  AddFigures(row, figures);
  if constexpr (requires { figures.variances; }) row.variances += figures.variances;
  return row;
}

// Orders the rows, and sums those of the same node and thread.
void Sum(std::vector<PageRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const PageRow& a, const PageRow& b) {
    return std::pair(a.node, a.thread) < std::pair(b.node, b.thread);
  });
  size_t count = 0;
  for (const PageRow& row : rows) {
    PageRow* last = count > 0 ? &rows[count - 1] : nullptr;
    if (last != nullptr && last->node == row.node && last->thread == row.thread) {
      AddFigures(*last, row);
      last->variances += row.variances;
    } else {
      rows[count++] = row;
    }
  }
  rows.resize(count);
}

}  // namespace

PageRows MakePageRows(const Profile& profile, const PageTree& tree, size_t max_rows) {
  const std::vector<uint32_t> by_weight = ThreadsByWeight(profile);
  PageRows result;
  // Halving ends with one row for each node, which the tree's own limits allow.
  for (size_t kept = by_weight.size();; kept /= 2) {
    result.thread_of = Renumbered(profile, by_weight, kept, result.threads);
    result.rows.clear();
    for (size_t i = 0; i < profile.sites.size(); ++i) {
      const ProfileSite& site = profile.sites[i];
      if (HasFigure(site)) result.rows.push_back(RowOf(profile, tree, result, i, site));
    }
    Sum(result.rows);
    if (result.rows.size() <= max_rows || kept == 0) return result;
  }
}

std::vector<PageRow> RowsOfProcess(const Profile& profile, const PageTree& tree,
                                   const PageRows& all, const ProfileProcess& process) {
  std::vector<PageRow> rows;
  rows.reserve(process.rows.size());
  for (const ProcessRow& row : process.rows) {
    rows.push_back(RowOf(profile, tree, all, row.site, row));
  }
  Sum(rows);
  return rows;
}

}  // namespace memprof

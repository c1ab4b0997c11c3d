#include "core/budget/lost_measure.h"

namespace memprof {

std::vector<Count> LostBySite(const Profile& profile) {
  std::vector<Count> by_node(profile.nodes.size());
  for (const InspectedRow& row : profile.inspection.rows) by_node[row.node] += row.figures.lost();
  std::vector<Count> by_site;
  by_site.reserve(profile.sites.size());
  for (const ProfileSite& site : profile.sites) {
    by_site.push_back(by_node[site.node]);
    by_node[site.node] = {};
  }
  return by_site;
}

Measurement MeasureLost(const Profile& profile, std::span<const uint32_t> sites) {
  Measurement lost;
  if (profile.inspection.looks == 0) {
    lost.why_not = "no inspection is in this capture; memprof inspect -o writes one of a run";
    return lost;
  }
  const std::vector<Count> by_site = LostBySite(profile);
  Count of_sites;
  for (const Count& count : by_site) of_sites += count;
  if (of_sites != SumOf(profile.inspection).lost()) {
    lost.why_not = "the capture has lost blocks whose places it doesn't have";
    return lost;
  }
  for (const uint32_t site : sites) lost.value += static_cast<double>(by_site[site].bytes);
  return lost;
}

}  // namespace memprof

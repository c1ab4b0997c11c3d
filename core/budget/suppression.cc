#include "core/budget/suppression.h"

namespace memprof {

std::string Describe(const Suppression& suppression) {
  std::string pattern = Describe(suppression.pattern);
  if (!suppression.running_threads) return pattern;
  return "threads that still ran at the end" + (pattern.empty() ? "" : ", " + pattern);
}

std::vector<bool> MatchingSites(const Profile& profile, const Suppression& suppression) {
  std::vector<bool> sites = MatchingSites(profile, suppression.pattern);
  for (size_t i = 0; suppression.running_threads && i < sites.size(); ++i) {
    sites[i] = sites[i] && profile.sites[i].of_running_threads;
  }
  return sites;
}

}  // namespace memprof

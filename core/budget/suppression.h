// Suppression: sites that don't count for some limits of a budget.
//
// Thread safety: pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/budget/limit_kind.h"
#include "core/budget/site_pattern.h"
#include "core/profile/profile.h"

namespace memprof {

struct Suppression {
  SitePattern pattern;  // empty: every site, with running_threads only
  // Only sites whose leaks are all of threads that still ran at the end. Such a suppression names
  // only limits on leaked blocks (CountsLeakedBlocks).
  bool running_threads = false;
  std::string reason;
  // The last day on which it holds; not set: it always holds, with running_threads only.
  std::optional<std::chrono::year_month_day> expires;
  std::vector<const LimitKind*> kinds;
  uint32_t line = 0;
};

// "function parse_*", "threads that still ran at the end, thread worker".
std::string Describe(const Suppression& suppression);

// Returns one flag for each of the profile's sites.
std::vector<bool> MatchingSites(const Profile& profile, const Suppression& suppression);

}  // namespace memprof

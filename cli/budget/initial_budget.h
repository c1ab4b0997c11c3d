// Makes a first budget file from runs: the highest measured figures plus headroom.
//
// Headroom is a quarter of the figure of one run. Several runs show how much a figure varies by
// itself: headroom is then three times the spread (highest less lowest), and at least a tenth of the
// figure. Limits are rounded up to two digits; a 0 stays 0. A limit is called flaky if the spread is
// more than a tenth of the figure: one near the figure would fail by chance. There are limits for
// the program, and for the peak of the three functions that hold most of it, each if it holds at
// least a tenth.
//
// Invariant: each profile is within the limits of the file.
// Thread safety: pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/profile/profile.h"

namespace memprof {

// A run, and its capture's name for a comment.
struct InitialRun {
  const Profile* profile;
  std::string capture;
};

struct InitialBudgetText {
  std::string text;
  std::vector<std::string> flaky;  // a line for each limit that is
};

// Pre: there is a run; the first one's functions get limits.
InitialBudgetText InitialBudget(std::span<const InitialRun> runs);

}  // namespace memprof

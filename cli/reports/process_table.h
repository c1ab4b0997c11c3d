// ProcessTable: whose the figures of a merge are, one line each for the heaviest of the processes
// that it keeps apart, and one for all others. Invariant: the lines sum to the total.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "core/figure.h"
#include "core/profile/profile.h"

namespace memprof {

// By `figure`, the heaviest first. Nothing of what is no merge, or one that keeps none apart; nor
// where another moment stands for the peak.
std::string ProcessTable(const Profile& profile, Figure figure, const TextStyle& style);

}  // namespace memprof

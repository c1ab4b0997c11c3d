// ProcessTable: the figures of a merge by process: a line for each of the heaviest processes that
// are kept apart, and one for all others. Invariant: the lines sum to the total.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "core/figure.h"
#include "core/profile/profile.h"

namespace memprof {

// Ordered by `figure`, the heaviest first. Empty if the profile is no merge or keeps no process
// apart, or if another moment replaces the peak.
std::string ProcessTable(const Profile& profile, Figure figure, const TextStyle& style);

}  // namespace memprof

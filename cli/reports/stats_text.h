// StatsText: the figures of the whole program as text: totals, sizes as bars, the functions of the
// allocator, and the places that allocated most.
//
// Invariant: the rows of each table sum to the program's total.
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

std::string StatsText(const Profile& profile, const TextStyle& style);

}  // namespace memprof

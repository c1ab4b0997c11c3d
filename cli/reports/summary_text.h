// The summary as text: what ran, its figures, and the heaviest places.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/reports/rows.h"
#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

std::string SummaryText(const Profile& profile, const RowOptions& what, size_t rows,
                        const TextStyle& style);

}  // namespace memprof

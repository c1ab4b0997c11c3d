// The summary as text: what ran, its figures, and the heaviest places.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/rows.h"
#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

// "a merge of 3 captures, 2 of leaf, 1 of make, started … to …". Pre: there are sources.
std::string MergeText(const std::vector<SnapshotSource>& sources);

std::string SummaryText(const Profile& profile, const RowOptions& what, size_t rows,
                        const TextStyle& style);

}  // namespace memprof

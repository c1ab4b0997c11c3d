// ProcessesJson: the processes of a merge, for the page's table and its choice of one (page.h's
// "processes").
//
// Only the processes that are kept apart have figures of their own. Of the others the merge has a sum,
// and for each what ran and its own peak.
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/web/page_functions.h"
#include "cli/web/page_rows.h"
#include "cli/web/page_tree.h"
#include "core/profile/profile.h"

namespace memprof {

// The processes that the page lists: those with the highest peaks, and all that are kept apart.
inline constexpr size_t kMostListedProcesses = 200;

nlohmann::ordered_json ProgramObject(const SnapshotProgram& program);

// null if the profile is no merge.
nlohmann::ordered_json ProcessesJson(const Profile& profile, const PageTree& tree,
                                     const PageRows& rows, const PageFunctions& functions);

}  // namespace memprof

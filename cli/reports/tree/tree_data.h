// The call tree as JSON and CSV: one entry for each line of the tree, each after its parent, with
// the names of `transform json`.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/reports/tree/call_tree.h"
#include "core/profile/profile.h"

namespace memprof {

// The object of stats --json with "nodes": docs/schemas/tree.json.
//
// A node's figure is the sum of the nodes whose parent it is, if there are any.
std::string TreeJson(const Profile& profile, const CallTreeOptions& options);
std::string TreeCsv(const Profile& profile, const CallTreeOptions& options);

}  // namespace memprof

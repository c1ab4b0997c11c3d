// The call tree as JSON and CSV: one entry a line of the tree, each after its parent, under the
// names of `transform json`.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/reports/tree/call_tree.h"
#include "core/profile/profile.h"

namespace memprof {

// What stats --json has, and {"notes", "figure": "peak", "leaked" or "temporary", "direction":
// "top-down" or "bottom-up", "nodes": [{"parent": index into nodes, null of the root; "function",
// "file", "line", "module", "bytes", "allocations", "standard_error" of estimates, "total":
// {"bytes"}}]}
//
// A node's figure is the sum of the nodes that have it as parent, if there are any.
std::string TreeJson(const Profile& profile, const CallTreeOptions& options);
std::string TreeCsv(const Profile& profile, const CallTreeOptions& options);

}  // namespace memprof

// The call tree as text.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/reports/tree/call_tree.h"
#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

// One line for each node. Invariant: a line's figure is the sum of the lines directly below it. A
// node's own allocations beside its callees' have a line "[itself]", nodes that aren't shown a line
// "[N more]".
std::string TreeText(const Profile& profile, const CallTreeOptions& options,
                     const TextStyle& style);

}  // namespace memprof

// The call tree as text.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/reports/tree/call_tree.h"
#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

// One line a node. Invariant: a line's figure is the sum of the lines right below it: what it
// allocated itself beside its callees is a line "[itself]", what is not shown a line "[N more]".
std::string TreeText(const Profile& profile, const CallTreeOptions& options,
                     const TextStyle& style);

}  // namespace memprof

// Finds the stacks behind a figure that is over its limit, and those among them that grew. Behind
// a limit of growth these are the stacks that grow, with their slopes in bytes an hour; behind one of
// what is lost, what an inspection called lost of each.
//
// Thread safety: pure.
#pragma once

#include "cli/budget/check_report.h"

namespace memprof {

// `before` may be null.
Contributors ContributorsTo(const LimitVerdict& verdict, const Profile& now, const Profile* before);

}  // namespace memprof

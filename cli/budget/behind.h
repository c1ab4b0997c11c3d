// Which stacks a figure that is over its limit comes from, and which of them grew.
//
// Thread safety: pure.
#pragma once

#include "cli/budget/check_report.h"

namespace memprof {

// `before` may be null.
Behind StacksBehind(const LimitVerdict& verdict, const Profile& now, const Profile* before);

}  // namespace memprof

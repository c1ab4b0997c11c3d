// A verdict as one line without its subject: the value, the limit, and by how much it is over.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "core/budget/judge.h"

namespace memprof {

std::string VerdictText(const LimitVerdict& verdict);

// "31.2 MiB", "≈ 31.2 ± 1.0 MiB".
std::string ValueText(const LimitVerdict& verdict);

}  // namespace memprof

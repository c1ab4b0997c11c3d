// The stacks behind a limit as aligned lines:
//
//      now   share      change  function             place
//   30 MiB   93.8%   +24.0 MiB  Cache::Insert(Key)   cache.cc:12
//                                 ← Serve ← main
//    2 MiB    6.2%         0 B  others (3 stacks)
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/budget/check_report.h"
#include "cli/terminal/terminal.h"

namespace memprof {

// At most `rows` stacks, and a line for the others. Empty if there are none.
std::string ContributorsText(const CheckItem& item, bool baseline, size_t rows,
                             const TextStyle& style);

}  // namespace memprof

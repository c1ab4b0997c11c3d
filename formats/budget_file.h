// The budget file, in TOML.
//
//   [budget]
//   peak = "24 MiB"                       # or 25165824
//   leaked = "0 B"
//   allocations = 1000
//   peak_rss = ["+5%", "+2 MiB"]          # more than the baseline's: the larger of the two
//   allocated = { max = "1 GiB", over_baseline = "+10%" }   # both
//   noise_floor = "64 KiB"                # an increment allows at least this
//   noise_floor_allocations = 100
//
//   [[budget.match]]
//   function = "parse_*"                  # or namespace, source, module, thread; several: a list
//   where = "place"                       # which frames: "any" of the stack, or the place alone
//   peak_share = "25%"                    # and the other limits
//   name = "the parser"                   # for reports
//   required = true                       # fails if nothing matches
//
//   [[budget.suppress]]
//   module = { regex = "^libssl\\.so" }   # keys as of a match
//   reason = "known, ticket 4711"
//   expires = 2026-12-31                  # the last day
//   limits = ["leaked"]                   # default: leaked, leaked_allocations, lost, growth_per_hour
//
//   [[budget.suppress]]
//   running_threads = true                # blocks of threads that still ran at the end; keys of a
//                                         # match may narrow it
//   reason = "the logger's thread"        # `expires` may be left out
//   limits = ["leaked"]                   # default: leaked, leaked_allocations; no others
//
// Thread safety: pure. Failure: kUsage, "NAME:LINE:COLUMN: what is wrong and what to write".
#pragma once

#include <string>
#include <string_view>

#include "core/budget/budget.h"
#include "core/result.h"

namespace memprof {

// `name` is the file's, for messages.
Result<Budget> ParseBudget(std::string_view text, const std::string& name);

}  // namespace memprof

// PageFunctions: the figures of each function over the whole profile, whatever a page's tree prunes.
//
//   main ─ load ─ parse ─ malloc 5      self       malloc 5, parse 2
//                       └ (itself) 2    located    parse 7: malloc is system code
//                                       inclusive  7 of each of main, load, parse; malloc 5
//
// A function has a row for each thread that allocated through it. Blocks kept by design are counted
// by kRuntimeRow, and stacks without a frame of the program by kNoProgramRow. If the functions don't
// fit, the least important ones are counted together by kOtherFunctions, which has no inclusive
// figure.
//
// Invariants, for the profile's rows and for those of each process of a merge
//   1. The rows of `self` sum to the totals, and so do those of `located`.
//   2. A stack counts once for a function that is in it several times.
//   3. functions[f].inclusive is at least functions[f]'s self, in each figure.
//   4. Rows are ordered by (function, thread), without repetitions.
//
// Thread safety: plain values. The same profile gives the same functions. Memory: a few hundred bytes
// for each function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/web/merged_tree.h"
#include "cli/web/page_rows.h"
#include "core/profile/profile.h"

namespace memprof {

struct FunctionRow : Figures {
  uint32_t function = 0;
  uint32_t thread = 0;  // index into PageRows::threads
  FigureVariances variances;
};

struct FunctionTables {
  std::vector<FunctionRow> self;     // by the function that called the allocator
  std::vector<FunctionRow> located;  // by the innermost function that is no system code
  std::vector<FunctionRow> inclusive;
};

struct PageFunctions : FunctionTables {
  std::vector<FunctionName> functions;    // the most important first; long names shortened
  uint64_t others = 0;                    // the number of functions that kOtherFunctions stands for
  std::vector<FunctionTables> processes;  // of each of Profile::processes; empty if not kept apart
};

inline constexpr char kNoProgramRow[] = "[system frames]";
inline constexpr char kOtherFunctions[] = "[other functions]";

// `merged` and `rows` are the profile's. `max_bytes` is for the functions' names and rows as JSON.
PageFunctions MakePageFunctions(const Profile& profile, const MergedTree& merged,
                                const PageRows& rows, size_t max_bytes);

}  // namespace memprof

// PageRows: what each thread allocated at each node of a page. The page filters by thread, so its
// figures are kept by (node, thread name) and summed there.
//
// A program of many threads has many rows of few bytes; where there are more than max_rows, the
// threads that matter least are shown together as kOtherThreads.
//
// Invariants
//   1. The rows of a node sum to its own figures; a node of no figures has no row.
//   2. Rows are in the order of (node, thread), and no two are of the same.
//
// Thread safety: plain values. The same profile and tree give the same rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/web/page_tree.h"
#include "core/profile/profile.h"

namespace memprof {

struct PageRow : Figures {
  uint32_t node = 0;    // of the tree
  uint32_t thread = 0;  // of PageRows::threads
  FigureVariances variances;
};

struct PageRows {
  std::vector<std::string> threads;
  std::vector<PageRow> rows;
};

inline constexpr char kOtherThreads[] = "[other threads]";

PageRows MakePageRows(const Profile& profile, const PageTree& tree, size_t max_rows);

}  // namespace memprof

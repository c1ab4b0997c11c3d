// PageRows: the allocations of each thread at each node of a page. The page filters by thread, so
// its figures are kept by (node, thread name) and summed there.
//
// A program of many threads has many rows of few bytes. If there are more than max_rows, the least
// important threads are shown together as kOtherThreads.
//
// Invariants
//   1. The rows of a node sum to its own figures; a node without figures has no row.
//   2. Rows are ordered by (node, thread), without repetitions.
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
  uint32_t node = 0;    // index in the tree
  uint32_t thread = 0;  // index into PageRows::threads
  FigureVariances variances;
};

struct PageRows {
  std::vector<std::string> threads;
  std::vector<uint32_t> thread_of;  // for each of the profile's thread names, its index in threads
  std::vector<PageRow> rows;
};

inline constexpr char kOtherThreads[] = "[other threads]";

PageRows MakePageRows(const Profile& profile, const PageTree& tree, size_t max_rows);

// The rows of one process of a merge, whose figures are kept apart. Its threads are those of `all`, the
// rows of the same profile and tree.
std::vector<PageRow> RowsOfProcess(const Profile& profile, const PageTree& tree,
                                   const PageRows& all, const ProfileProcess& process);

}  // namespace memprof

// SnapshotInspection: what an inspection of a running program's memory found (core/inspect): which of
// its live blocks are lost for good, and what holds the others. Sites and ways, never contents of
// memory.
//
// Invariants
//   1. Of each row, and so of their sum: lost_directly + lost_indirectly + reachable + inherited +
//      unknown = live.
//   2. paths[0] is above all roots, retained[0] above all blocks, and have no figures; every other
//      one's parent has a smaller index. `what`, `row` and `type` are in range.
//   3. The paths' own figures sum to what is reachable.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/count.h"

namespace memprof {

struct HeldFigures {
  Count lost_directly;
  Count lost_indirectly;
  Count reachable;
  Count inherited;  // blocks that a forked child had from its parent, whether held or not
  // Lost in this look, but not in the one before it; or of a site that isn't known.
  Count unknown;
  Count in_cycles;  // the part of both kinds of lost blocks that reach themselves

  Count live() const;
  Count lost() const;
  HeldFigures& operator+=(const HeldFigures& other);
  friend bool operator==(const HeldFigures&, const HeldFigures&) = default;
};

struct InspectedRow {
  uint32_t node = 0;  // the leaf of its stack; 0: of blocks whose stack isn't known
  HeldFigures figures;
  // Resident pages (core/inspect/pinned_pages.h): those on which no other stack has a block, and the
  // stack's share of what is free on pages with its blocks.
  uint64_t alone_bytes = 0;
  uint64_t free_bytes = 0;
  uint32_t type =
      0;  // what its blocks are, as far as they say it: 1 + index in types; 0: they don't
  friend bool operator==(const InspectedRow&, const InspectedRow&) = default;
};

// A way by which blocks are held: a root, then rows. Rows that repeat each other on a way (the nodes
// of a list or a tree) are folded into one.
struct HoldingPath {
  uint32_t parent = 0;
  bool is_root = false;
  uint32_t what = 0;  // index of a root, or of a row; meaningless in paths[0]
  Count own;          // reachable blocks that are held so
  friend bool operator==(const HoldingPath&, const HoldingPath&) = default;
};

inline constexpr uint32_t kNoRow = ~uint32_t{0};

// The dominators of the reachable and the doubtful blocks, summed by row: what would be freed with a
// row's blocks is in and below its entries. A row is on no way from the top twice; blocks of one that
// is there already belong to the last entry of the way.
struct RetainedEntry {
  uint32_t parent = 0;
  uint32_t row = kNoRow;  // kNoRow: entry 0
  uint64_t own_bytes = 0;
  friend bool operator==(const RetainedEntry&, const RetainedEntry&) = default;
};

inline constexpr uint32_t kLongestPath =
    64;  // rows and root on a way; entries from the top likewise

struct SnapshotInspection {
  uint32_t looks = 0;    // 0: there was no inspection
  uint64_t time_ms = 0;  // of the last look, after the start
  uint64_t longest_pause_us = 0;
  uint64_t took_ms = 0;                 // all looks
  std::vector<std::string> notes = {};  // what may be wrong, a sentence each
  std::vector<InspectedRow> rows = {};
  std::vector<std::string> roots = {};
  std::vector<std::string> types = {};  // C++ types with virtual functions, as they are written
  std::vector<HoldingPath> paths = {};
  std::vector<RetainedEntry> retained = {};

  // Empty: it isn't known.
  std::string_view TypeOf(const InspectedRow& row) const {
    return row.type != 0 ? std::string_view(types[row.type - 1]) : std::string_view();
  }
  friend bool operator==(const SnapshotInspection&, const SnapshotInspection&) = default;
};

HeldFigures SumOf(const SnapshotInspection& inspection);

// With everything in an order that doesn't depend on addresses, and what is the same only once. `moved`
// has the new index of each node.
SnapshotInspection CanonicalInspection(SnapshotInspection inspection,
                                       const std::vector<uint32_t>& moved);

// What would be freed with all reachable blocks of each group of rows: their bytes, and those of the
// blocks that are only held by way of them. `groups` has a group for each row. The result is by group.
std::vector<uint64_t> RetainedBytes(const std::vector<RetainedEntry>& retained,
                                    const std::vector<uint32_t>& groups);

}  // namespace memprof

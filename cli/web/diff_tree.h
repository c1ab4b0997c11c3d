// DiffTree: two profiles' stacks as one call tree, for the page of a difference. Frames are matched
// by SymbolKey (core/profile/symbol_key.h), so lines and addresses don't matter. The least
// important ones are folded into rows "[pruned]", as in page_tree.h.
//
// Invariants
//   1. nodes[0] is the root, without a frame; every other node's parent has a smaller index.
//   2. The nodes' own figures sum to both profiles' totals, whatever was folded.
//   3. Sites kept by design lie under root ─ kRuntimeRow.
//   4. nodes.size() <= max_nodes, as long as that leaves room for the root and one row.
//
// Thread safety: plain values. The same profiles give the same tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/frame_kind.h"
#include "core/profile/profile.h"

namespace memprof {

struct DiffTreeFrame {
  std::string function;
  std::string module;  // path in the later profile, if it is there; empty: none
  FrameKind kind = FrameKind::kProgram;
};

struct DiffTreeNode {
  uint32_t parent = 0;
  uint32_t frame = 0;     // meaningless in the root
  Figures before, after;  // of the sites that end exactly here
};

struct DiffTree {
  std::vector<DiffTreeFrame> frames;
  std::vector<DiffTreeNode> nodes;
  uint64_t pruned_nodes = 0;
};

DiffTree MakeDiffTree(const Profile& before, const Profile& after, size_t max_nodes = 50'000);

}  // namespace memprof

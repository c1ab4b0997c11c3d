// MergedTree: a profile's call tree with its nodes merged by function, file and module, before
// anything is pruned. A page's tree and its figures by function are both made from it.
//
// Invariants
//   1. nodes[0] is the root, without a frame; every other node's parent has a smaller index.
//   2. Sites kept by design (ProfileSite::runtime_reason) lie under root ─ kRuntimeRow ─ reason.
//   3. node_of_site has an entry for every site of the profile.
//
// Thread safety: plain values. Memory: 16 bytes for each node of the profile, 12 for each merged
// one, and 4 for each site; while it is made, some 40 more for each node. The same profile gives the
// same tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame_kind.h"
#include "core/profile/profile.h"

namespace memprof {

struct FunctionName {
  std::string function;
  std::string file;    // empty: not known
  std::string module;  // path; empty: none
  FrameKind kind = FrameKind::kProgram;
  friend bool operator==(const FunctionName&, const FunctionName&) = default;
};

// A page gives such a frame's bytes to its caller, unless the reader wants to see it.
inline bool IsFolded(FrameKind kind) {
  return kind == FrameKind::kSystem || kind == FrameKind::kInterpreter;
}

struct MergedNode {
  uint32_t parent = 0;
  uint32_t frame = 0;  // index into names; meaningless in the root
};

// One of the profile's frames that a node stands for.
struct MergedFrame {
  uint32_t node = 0;
  uint32_t frame = 0;  // of the profile
};

struct MergedTree {
  std::vector<FunctionName> names;  // without repetitions
  std::vector<MergedNode> nodes;
  std::vector<uint32_t> node_of_site;
  std::vector<MergedFrame> frames;      // of all nodes but rows, in no order, with repetitions
  std::vector<uint32_t> by_importance;  // nodes (core/tree/pruned_tree.h)
};

MergedTree MergeTree(const Profile& profile);

}  // namespace memprof

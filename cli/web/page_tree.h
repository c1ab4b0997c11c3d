// PageTree: the call tree that a page shows. The profile's call sites are merged by function, file
// and module (a function that calls another from two lines is one frame with two lines), and the
// least important frames are folded into rows "[pruned]", so that a page opens on any machine.
//
//   main ─ load ─ parse ─ [pruned]        [pruned] stands for all the children of parse that were
//        └ serve                          folded, with their figures; the page can't open it
//
// Invariants
//   1. nodes[0] is the root, of no frame; every other node's parent has a smaller index.
//   2. The nodes' own figures sum to the profile's totals, whatever was folded.
//   3. Sites kept by design (ProfileSite::runtime_reason) lie under root ─ kRuntimeRow ─ reason.
//   4. node_of_site has an entry for every site of the profile; a node's own figures are the sum of
//      its sites'.
//   5. nodes.size() <= max_nodes, and the texts' bytes and the nodes' together stay below
//      max_bytes, as long as these leave room for the root and one row.
//
// Thread safety: plain values. Memory: a few times the profile's. The same profile gives the same
// tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/frame_kind.h"
#include "core/profile/profile.h"

namespace memprof {

struct PageFrame {
  std::string function;
  std::string file;    // empty: not known
  std::string module;  // path; empty: none
  std::string lines;   // "12", "12, 40", "12, 40, … (9 lines)"; empty: not known
  uint32_t line = 0;   // the first of them
  FrameKind kind = FrameKind::kProgram;
  bool inlined = false;  // wherever it occurs at this place of the tree
  friend bool operator==(const PageFrame&, const PageFrame&) = default;
};

struct PageNode : Figures {  // of the sites that end exactly here, not of what is below
  uint32_t parent = 0;
  uint32_t frame = 0;         // meaningless in the root
  FigureVariances variances;  // likewise; 0 of an exact profile
  LiveHistory history;        // likewise
};

struct PageTree {
  std::vector<PageFrame> frames;  // each occurs once
  std::vector<PageNode> nodes;
  std::vector<uint32_t> node_of_site;  // for each of the profile's sites: where its figures are
  uint64_t pruned_nodes = 0;           // how many were folded into rows "[pruned]"
};

struct PageLimits {
  size_t max_nodes = 200'000;
  size_t max_bytes = 8u << 20;
  size_t max_history_bytes = 3u << 19;  // beside max_bytes
};

inline constexpr char kPrunedRow[] = "[pruned]";

PageTree MakePageTree(const Profile& profile, const PageLimits& limits = {});

}  // namespace memprof

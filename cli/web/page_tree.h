// PageTree: the call tree that a page shows: a merged tree (merged_tree.h), in which a function that
// calls another from two lines is one frame with two lines. The least important frames are folded
// into rows "[pruned]", so that a page opens on any machine.
//
//   main ─ load ─ parse ─ [pruned]        [pruned] stands for all the children of parse that were
//        └ serve                          folded, with their figures; the page can't open it
//
// Invariants
//   1. nodes[0] is the root, without a frame; every other node's parent has a smaller index.
//   2. The nodes' own figures sum to the profile's totals, whatever was folded.
//   3. node_of_site has an entry for every site of the profile; a node's own figures are the sum of
//      its sites'.
//   4. nodes.size() <= max_nodes, and the texts' bytes and the nodes' together stay below
//      max_bytes, as long as these leave room for the root and one row.
//
// Thread safety: plain values. The same profile gives the same tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/web/merged_tree.h"
#include "core/profile/profile.h"

namespace memprof {

struct PageFrame : FunctionName {
  std::string lines;     // "12", "12, 40", "12, 40, … (9 lines)"; empty: not known
  uint32_t line = 0;     // the first line
  bool inlined = false;  // true if all of its occurrences at this place of the tree are
  friend bool operator==(const PageFrame&, const PageFrame&) = default;
};

struct PageNode : Figures {  // figures of the sites that end exactly here, not below
  uint32_t parent = 0;
  uint32_t frame = 0;         // meaningless in the root
  FigureVariances variances;  // of these figures; 0 in an exact profile
  LiveHistory history;        // live bytes of these sites
};

struct PageTree {
  std::vector<PageFrame> frames;  // without repetitions
  std::vector<PageNode> nodes;
  std::vector<uint32_t> node_of_site;  // for each of the profile's sites, the node with its figures
  uint64_t pruned_nodes = 0;           // number of nodes that were folded into rows "[pruned]"
};

struct PageLimits {
  size_t max_nodes = 200'000;
  size_t max_bytes = 8u << 20;
  size_t max_history_bytes = 3u << 19;   // in addition to max_bytes
  size_t max_function_bytes = 3u << 20;  // of the figures by function, in addition as well
};

inline constexpr char kPrunedRow[] = "[pruned]";

// `merged` is the profile's.
PageTree MakePageTree(const Profile& profile, const MergedTree& merged,
                      const PageLimits& limits = {});

// Names are written in full up to this length; the longest seen in real C++ are around 10,000 bytes.
inline constexpr size_t kMaxTextBytes = 32 * 1024;

// The start of a longer text, never cut within a UTF-8 sequence, and how much is missing.
std::string Shortened(const std::string& text);

}  // namespace memprof

// Inspection: the live heap by site: what is lost for good, what is held, and by which paths.
//
//   blocks ─► HeapGraph ─► Reachability ─► figures by site
//                     │              └───► paths: who holds whom, merged by site
//                     └─► Dominators ───► what would be freed with some sites' blocks
//
// Invariants
//   1. lost_directly + lost_indirectly + reachable + inherited + unknown = live, in bytes and blocks.
//   2. The sites' figures sum to the totals, and the paths' own figures to reachable.
//   3. paths[0] is above all roots; every other path's parent has a smaller index.
//
// Thread safety: pure, but for the threads of BuildGraph.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/count.h"
#include "core/inspect/heap_graph.h"
#include "core/inspect/reachability.h"

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
  HeldFigures& operator+=(const HeldFigures& other);
  friend bool operator==(const HeldFigures&, const HeldFigures&) = default;
};

inline constexpr uint32_t kNoSite = ~uint32_t{0};

struct InspectedSite {
  uint32_t site = kNoSite;  // of the region; kNoSite: of blocks whose site isn't known
  HeldFigures figures;
};

// The reachable and the doubtful blocks as a tree of dominators. A parent's index is smaller.
struct RetainedBlock {
  uint32_t parent = 0;
  uint32_t site =
      kNoSite;         // index in Inspection::sites; kNoSite: a root, or what is above all roots
  uint64_t bytes = 0;  // of the block and all below it
};

// A way by which blocks are held. Sites that repeat each other on a way (the nodes of a list or a
// tree) are folded into one.
struct HoldingPath {
  uint32_t parent = 0;
  bool is_root = false;
  uint32_t what = 0;  // index of a root, or a site; meaningless in paths[0]
  Count own;          // reachable blocks that are held so
  Count all;          // with those of the paths below
};

struct LostBlock {
  uint64_t address = 0;
  uint64_t size = 0;
  uint32_t site = 0;
  friend auto operator<=>(const LostBlock&, const LostBlock&) = default;
};

struct Inspection {
  HeldFigures total;
  std::vector<InspectedSite> sites;  // each once, by site
  std::vector<HoldingPath> paths;
  std::vector<LostBlock> lost;  // by address: for the next look
  std::vector<RetainedBlock> retained;
  uint64_t words = 0;  // that were looked up
  uint64_t pointers = 0;
};

struct InspectOptions {
  unsigned threads = 1;
  const std::vector<LostBlock>* lost_before = nullptr;  // of an earlier look; null: there was none
};

// `site_of` gives the site of a cell, or kNoSite. Pre: as BuildGraph.
Inspection Inspect(const MemorySource& memory, const std::vector<LiveBlock>& blocks,
                   const std::vector<Root>& roots,
                   const std::function<uint32_t(uint32_t cell)>& site_of,
                   const InspectOptions& options = {});

// What would be freed with all reachable blocks of each group of sites: their bytes, and those of the
// blocks that are only held by way of them. `groups` has a group for each of the inspection's sites.
// The result is by group.
std::vector<uint64_t> RetainedBytes(const Inspection& inspection,
                                    const std::vector<uint32_t>& groups);

}  // namespace memprof

// Inspection: the live heap by site: what is lost for good, what is held, and by which paths.
//
//   blocks ─► HeapGraph ─► Reachability ─► figures by site
//                     │              └───► paths: who holds whom, merged by site
//                     └─► Dominators ───► what would be freed with some sites' blocks
//
// Invariants: those of SnapshotInspection, and the sites' figures sum to the totals.
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
#include "core/snapshot/inspection_record.h"

namespace memprof {

inline constexpr uint32_t kNoSite = ~uint32_t{0};

struct InspectedSite {
  uint32_t site = kNoSite;  // of the region; kNoSite: of blocks whose site isn't known
  HeldFigures figures;
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
  // As in SnapshotInspection: `what` and `row` are indices in `sites`, or of a root.
  std::vector<HoldingPath> paths;
  std::vector<RetainedEntry> retained;
  std::vector<LostBlock> lost;  // by address: for the next look
  uint64_t words = 0;           // that were looked up
  uint64_t pointers = 0;
};

struct InspectOptions {
  unsigned threads = 1;
  const std::vector<LostBlock>* lost_before = nullptr;  // of an earlier look; null: there was none
  bool holders = true;                                  // false: without paths and what is retained
};

// `site_of` gives the site of a cell, or kNoSite. Pre: as BuildGraph.
Inspection Inspect(const MemorySource& memory, const std::vector<LiveBlock>& blocks,
                   const std::vector<Root>& roots,
                   const std::function<uint32_t(uint32_t cell)>& site_of,
                   const InspectOptions& options = {});

}  // namespace memprof

// Which blocks the roots reach, by which path, and what is lost for good.
//
//   root ─► A ─► B          A and B are reachable
//   X ─► Y, P ⇄ Q ─► R      X and Y: nothing points to X, so it is lost directly and Y indirectly.
//                           P and Q point to each other only: one of them, the first by address, is
//                           the head of the cycle. It is lost directly, all others indirectly.
//
// The set of direct losses is the smallest one from which all lost blocks are reached: one block of
// each group of blocks that reach each other and that no other lost block points to.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/inspect/heap_graph.h"

namespace memprof {

enum class Reach : uint8_t {
  kReachable,
  kDoubtful,  // held by a block that only this look calls lost
  kLostDirectly,
  kLostIndirectly,
};

inline constexpr uint32_t kNoNode = ~uint32_t{0};

struct Reachability {
  std::vector<Reach> of;       // by block
  std::vector<bool> in_cycle;  // by block: it is lost, and reaches itself
  // The node by which a block was reached first: a shortest path to a root. kNoNode: a lost one, or a
  // doubtful one that nothing reaches.
  std::vector<uint32_t> holder;
  // The reachable and the doubtful blocks, each after its holder.
  std::vector<uint32_t> order;
};

// `was_lost(block)` says whether an earlier look called the block lost, too. If not, it is doubtful,
// and what it reaches.
Reachability FindReachable(const HeapGraph& graph,
                           const std::function<bool(uint32_t)>& was_lost = nullptr);

}  // namespace memprof

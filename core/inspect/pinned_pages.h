// PinnedPages: the resident memory that live blocks keep from being given back, by whose blocks lie on
// it. An allocator gives back pages, or whole slabs (core/inspect/slabs.h): a piece.
//
//   piece     [ a  . . b . ]    free bytes: what no live block has; split among a's and b's group by
//                               their bytes there
//   piece     [ a  . a . . ]    all of one group: it would go back if the group's blocks were freed
//
// Only what is resident of a piece counts.
//
// Invariant: free_bytes of all groups and the live bytes on resident pages are these pieces' resident
// size.
//
// Thread safety: pure. Memory: that of the groups.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/inspect/live_blocks.h"
#include "core/inspect/memory_source.h"
#include "core/inspect/slabs.h"

namespace memprof {

struct PinnedPages {
  uint64_t alone_bytes = 0;  // of pieces in which no other group has a block
  uint64_t free_bytes = 0;   // its share of the bytes that no live block has
  friend bool operator==(const PinnedPages&, const PinnedPages&) = default;
};

// `group_of` gives a block's group, below `groups`. Pre: blocks by address.
std::vector<PinnedPages> FindPinnedPages(const MemorySource& memory, const Slabs& slabs,
                                         std::span<const LiveBlock> blocks, uint32_t groups,
                                         const std::function<uint32_t(uint32_t)>& group_of);

}  // namespace memprof

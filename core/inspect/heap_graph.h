// HeapGraph: which live blocks and roots point to which live blocks.
//
//   nodes   0 … blocks-1   the blocks, by address
//           blocks …       the roots, in the order of `roots`
//
// Every aligned word of a block's requested bytes, of a root's ranges and among its words is looked up:
// a word that is an address within a block, also in its middle, is a pointer to it. The live blocks
// that lie in a root's ranges are no part of the root.
//
// Thread safety: BuildGraph uses threads of its own; the graph is a plain value.
// Memory: 8 bytes a node and 4 a pointer. A source that points twice running to the same block counts
// once; a block's pointers to itself don't.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/inspect/block_index.h"
#include "core/inspect/memory_source.h"

namespace memprof {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// Memory that the program reaches without a pointer from a block.
struct Root {
  std::string name;  // "worker's stack", ".bss of service"
  std::vector<AddressRange> ranges;
  std::vector<uint64_t> words;  // registers
};

struct HeapGraph {
  uint32_t blocks = 0;
  uint32_t roots = 0;
  std::vector<uint64_t> first;    // of each node's targets, and one more at the end
  std::vector<uint32_t> targets;  // blocks
  uint64_t words = 0;             // that were looked up

  uint32_t nodes() const { return blocks + roots; }
  std::span<const uint32_t> TargetsOf(uint32_t node) const {
    return {targets.data() + first[node], targets.data() + first[node + 1]};
  }
};

// Pre: as BlockIndex; `threads` is 1 or more.
HeapGraph BuildGraph(const MemorySource& memory, std::span<const LiveBlock> blocks,
                     const std::vector<Root>& roots, unsigned threads);

}  // namespace memprof

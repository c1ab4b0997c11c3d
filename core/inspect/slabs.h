// Slabs: the pieces in which allocators other than glibc's get memory from the system and give it
// back. Blocks of one size class lie side by side in a slab; it can be given back once all are freed.
//
//   slab      [ block | block | … ]     begins at a multiple of `align`, block k at k times the
//                                        class's size; so the remainder of a block's address tells
//                                        where its slab begins
//
// As jemalloc 5, gperftools' tcmalloc and mimalloc 2 are built by default, with pages of 4 KiB. What an
// allocator was configured to otherwise isn't known.
//
// Thread safety: const.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/inspect/heap_graph.h"

namespace memprof {

class Slabs {
 public:
  // `library` is the base name of the allocator's library; empty: glibc. It and unknown ones have no
  // slabs.
  explicit Slabs(std::string_view library);

  // The slab of a block; empty: it lies in none that is known, and goes back by pages.
  AddressRange Of(uint64_t address, uint64_t size) const;

 private:
  struct SizeClass {
    uint64_t size = 0;
    uint64_t slab = 0;
    uint64_t align = 0;
    // By (address % align) / unit: the block's offset in its slab; kNoOffset: no block lies so, or
    // several could.
    uint64_t unit = 0;
    std::vector<uint32_t> offsets = {};
  };

  static SizeClass Make(uint64_t size, uint64_t slab, uint64_t align);
  void AddJemallocs();
  void AddTcmallocs();

  std::vector<SizeClass> classes_;  // by size
  uint64_t aligned_ = 0;            // slabs are aligned to their size, this one, for blocks up to
  uint64_t most_ = 0;               // this size; 0: they aren't
};

}  // namespace memprof

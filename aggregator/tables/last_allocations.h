// LastAllocations: the blocks that a thread allocated last, so that a free of one of them is known
// as that of a temporary block: fewer than N allocations of the thread came between (SEMANTICS: N =
// 1, none).
//
//   N = 1    malloc → p   note p;   free(p): it is p, so p was temporary
//   N = 3    ring of 3:   p q r  →  malloc → s  →  s q r:   free(p) is too late, free(q) isn't
//
// A block that is in the ring is one that fewer than N others came after. Which block, is said by
// its address and by the cell that its allocation was booked in: the address may come back, but to
// another thread, which books in cells of its own. So a match is exact where the cell is the
// thread's; of two blocks that two threads had at one address through one shared cell the second
// may be taken for the first.
//
// A realloc is an allocation: its new block is noted. The block that it replaces is not asked for.
//
// Thread safety: its thread's, and that of signal handlers that interrupt any function here. One
// in the middle of Note takes a place of its own in the ring; with N = 1 one of the two blocks may
// be noted as neither, and is not known as temporary then. Memory: 1 KiB a thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/region_layout.h"

namespace memprof {

class LastAllocations {
 public:
  // `threshold`: N, 1 to kMaxTemporaryThreshold, the same in every call.
  [[gnu::always_inline]] void Note(uintptr_t address, uint32_t cell, uint32_t threshold) {
    if (__builtin_expect(threshold == 1, 1)) {
      blocks_[0] = {address, cell};
    } else {
      NoteInRing(address, cell, threshold);
    }
  }

  // Whether the block of that cell is one of the last.
  [[gnu::always_inline]] bool Have(uintptr_t address, uint32_t cell, uint32_t threshold) const {
    if (__builtin_expect(threshold == 1, 1)) {
      return __builtin_expect(blocks_[0].address == address, 0) && blocks_[0].cell == cell;
    }
    return HaveInRing(address, cell, threshold);
  }

 private:
  struct Block {
    uintptr_t address;
    uint32_t cell;
  };

  [[gnu::noinline]] void NoteInRing(uintptr_t address, uint32_t cell, uint32_t threshold) {
    // One instruction: a signal handler comes before or after it.
    uint64_t place = 1;
    __asm__ volatile("xaddq %0, %1" : "+r"(place), "+m"(count_));
    blocks_[place % threshold] = {address, cell};
  }

  [[gnu::noinline]] bool HaveInRing(uintptr_t address, uint32_t cell, uint32_t threshold) const {
    for (uint32_t i = 0; i < threshold; ++i) {
      if (blocks_[i].address == address && blocks_[i].cell == cell) return true;
    }
    return false;
  }

  Block blocks_[kMaxTemporaryThreshold];
  uint64_t count_;
};

}  // namespace memprof

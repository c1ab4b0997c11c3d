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
// With N = 1 that is one block, in the thread's own storage, of which there is little; the ring is
// in the thread's slot. A thread without one (tables/thread_slot.h) has no ring: its temporary
// blocks are not known as such.
//
// Thread safety: its thread's, and that of signal handlers that interrupt any function here. One
// in the middle of Note takes a place of its own in the ring; with N = 1 one of the two blocks may
// be noted as neither, and is not known as temporary then. Memory: 16 bytes; the ring 1 KiB,
// touched if it is used.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

// N = 1.
struct LastAllocation {
  uintptr_t address;
  uint32_t cell;

  [[gnu::always_inline]] bool Is(uintptr_t its_address, uint32_t its_cell) const {
    return __builtin_expect(address == its_address, 0) && cell == its_cell;
  }
};

// N above 1.
class LastAllocations {
 public:
  // `threshold`: N, at most kMaxTemporaryThreshold, the same in every call.
  void Note(uintptr_t address, uint32_t cell, uint32_t threshold) {
    // One instruction: a signal handler comes before or after it.
    uint64_t place = 1;
    __asm__ volatile("xaddq %0, %1" : "+r"(place), "+m"(count_));
    blocks_[place % threshold] = {address, cell};
  }

  // Whether the block of that cell is one of the last.
  bool Have(uintptr_t address, uint32_t cell, uint32_t threshold) const {
    for (uint32_t i = 0; i < threshold; ++i) {
      if (blocks_[i].address == address && blocks_[i].cell == cell) return true;
    }
    return false;
  }

  // The blocks were another thread's. Touches nothing where there are none.
  void Forget() {
    if (count_ == 0) return;
    for (LastAllocation& block : blocks_) block = {};
    count_ = 0;
  }

 private:
  uint64_t count_;
  LastAllocation blocks_[kMaxTemporaryThreshold];
};

}  // namespace memprof

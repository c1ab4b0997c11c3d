// LastAllocations: the blocks that a thread allocated last. The free of one of them is the free of
// a temporary block: fewer than N other allocations of the thread came between (for N = 1: none).
//
//   N = 1    malloc → p   note p;   free(p): it is p, so p was temporary
//   N = 3    ring of 3:   p q r  →  malloc → s  →  s q r:   free(p) is too late, free(q) isn't
//
// A block in the ring is one after which fewer than N others came. A block is identified by its
// address and by the cell that its allocation was booked in. Another thread may get the same
// address again, but it books in cells of its own. So a match is exact if the cell is the thread's.
// If two threads had blocks at one address and booked them in one shared cell, the second block may
// be taken for the first.
//
// A realloc is an allocation: its new block is noted. The block that it replaces is not looked up.
//
// With N = 1 that is one block, in the thread's own storage, which is small; the ring is in the
// thread's slot. A thread without a slot (tables/thread_slot.h) has no ring, so its temporary
// blocks are not recognised.
//
// Thread safety: its thread's, and that of signal handlers that interrupt any function here. A
// handler in the middle of Note takes a place of its own in the ring. With N = 1 one of the two
// blocks may be lost, and is then not recognised as temporary.
// Memory: 16 bytes; the ring 1 KiB, touched if it is used.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

// For N = 1.
struct LastAllocation {
  uintptr_t address;
  uint32_t cell;

  [[gnu::always_inline]] bool Is(uintptr_t its_address, uint32_t its_cell) const {
    return __builtin_expect(address == its_address, 0) && cell == its_cell;
  }
};

// For N above 1.
class LastAllocations {
 public:
  // `threshold` is N, at most kMaxTemporaryThreshold, the same in every call.
  void Note(uintptr_t address, uint32_t cell, uint32_t threshold) {
    // One instruction: a signal handler comes before or after it.
    uint64_t place = 1;
    __asm__ volatile("xaddq %0, %1" : "+r"(place), "+m"(count_));
    blocks_[place % threshold] = {address, cell};
  }

  // True if the block of that cell is one of the last.
  bool Have(uintptr_t address, uint32_t cell, uint32_t threshold) const {
    for (uint32_t i = 0; i < threshold; ++i) {
      if (blocks_[i].address == address && blocks_[i].cell == cell) return true;
    }
    return false;
  }

  // The blocks were another thread's. Touches no memory if there are none.
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

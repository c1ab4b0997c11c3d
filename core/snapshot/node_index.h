// NodeIndex: from a call tree's (parent, frame) to its node, for who merges trees: millions of
// look-ups, mostly of what is there. Open addressing with linear probing in one array.
//
// Thread safety: none. Memory: 16 bytes a slot, at most half of them used after it grew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memprof {

class NodeIndex {
 public:
  NodeIndex() : slots_(kFirstSlots) {}

  // The node, which is `next` if there is none yet. Pre: nodes are not 0, which is the root.
  uint32_t Place(uint32_t parent, uint32_t frame, uint32_t next) {
    if ((used_ + 1) * 2 > slots_.size()) Grow();
    Slot& slot = Find({parent, frame, 0, 0});
    if (slot.node == 0) {
      slot = {parent, frame, next, 0};
      ++used_;
    }
    return slot.node;
  }

 private:
  struct Slot {
    uint32_t parent = 0;
    uint32_t frame = 0;
    uint32_t node = 0;  // 0: free
    uint32_t unused = 0;
  };
  static constexpr size_t kFirstSlots = 1024;  // a power of two, as all sizes

  Slot& Find(const Slot& wanted) {
    uint64_t hash = (uint64_t{wanted.parent} << 32 | wanted.frame) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    for (size_t at = hash;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.node == 0 || (slot.parent == wanted.parent && slot.frame == wanted.frame)) {
        return slot;
      }
    }
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.node != 0) Find(slot) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace memprof

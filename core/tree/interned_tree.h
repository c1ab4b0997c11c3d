// InternedTree: a tree that has each path once. A child is looked up by its parent and its frame,
// and made if it isn't there yet. A frame is a number: an index into a table of frames or names.
//
//   root ─ 7 ─ 3      nodes   0  {0, 0}   the root, of no frame
//        └ 3                  1  {0, 7}
//                             2  {1, 3}
//                             3  {0, 3}
//
// `Node` has the members `parent` and `frame`, and any others that its user needs.
//
// Invariants
//   1. nodes()[0] is the root; every other node's parent has a smaller index.
//   2. No two nodes have the same parent and frame.
//   3. Nodes are numbered in the order in which they were first asked for.
//
// Thread safety: none. Memory: the nodes, and 12 bytes a slot of the index; at most half of the
// slots are used, and at least a quarter after it grew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memprof {

template <typename Node>
class InternedTree {
 public:
  InternedTree() : nodes_(1), slots_(kFirstSlots) {}

  // Returns the child of `parent` with this frame. A new one has its other members' defaults.
  uint32_t Child(uint32_t parent, uint32_t frame) {
    if (nodes_.size() * 2 > slots_.size()) Grow();
    Slot& slot = Find(parent, frame);
    if (slot.node == 0) {
      slot = {parent, frame, static_cast<uint32_t>(nodes_.size())};
      Node& fresh = nodes_.emplace_back();
      fresh.parent = parent;
      fresh.frame = frame;
    }
    return slot.node;
  }

  size_t size() const { return nodes_.size(); }
  Node& operator[](uint32_t node) { return nodes_[node]; }
  const Node& operator[](uint32_t node) const { return nodes_[node]; }
  const std::vector<Node>& nodes() const { return nodes_; }

  // The tree must not be used afterwards.
  std::vector<Node> Take() && { return std::move(nodes_); }

 private:
  // Open addressing with linear probing: merging makes millions of look-ups, most of which succeed.
  struct Slot {
    uint32_t parent = 0;
    uint32_t frame = 0;
    uint32_t node = 0;  // 0: free; the root is never looked up
  };
  static constexpr size_t kFirstSlots = 256;  // a power of two, as all sizes

  Slot& Find(uint32_t parent, uint32_t frame) {
    uint64_t hash = (uint64_t{parent} << 32 | frame) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    for (size_t at = hash;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.node == 0 || (slot.parent == parent && slot.frame == frame)) return slot;
    }
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.node != 0) Find(slot.parent, slot.frame) = slot;
    }
  }

  std::vector<Node> nodes_;
  std::vector<Slot> slots_;
};

}  // namespace memprof

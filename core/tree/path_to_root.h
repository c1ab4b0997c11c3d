// PathToRoot: the nodes from a given one up to the root, without the root. It is a stack, innermost
// frame first.
//
//   for (const uint32_t node : PathToRoot(profile.nodes, site.node)) …
//
// `Node` has the member `parent`; node 0 is the root, and a parent's index is smaller than a
// child's.
//
// Thread safety: pure. Ownership: `nodes` must outlive it and must not be changed.
#pragma once

#include <cstdint>
#include <vector>

namespace memprof {

template <typename Node>
class PathToRoot {
 public:
  class Iterator {
   public:
    Iterator(const Node* nodes, uint32_t node) : nodes_(nodes), node_(node) {}
    uint32_t operator*() const { return node_; }
    Iterator& operator++() {
      node_ = nodes_[node_].parent;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return node_ != other.node_; }

   private:
    const Node* nodes_;
    uint32_t node_;
  };

  PathToRoot(const std::vector<Node>& nodes, uint32_t from) : nodes_(nodes.data()), from_(from) {}

  Iterator begin() const { return {nodes_, from_}; }
  Iterator end() const { return {nodes_, 0}; }

 private:
  const Node* nodes_;
  uint32_t from_;
};

}  // namespace memprof

// PrunedTree: a tree without its least important nodes. The folded nodes below a node that stays
// become one row there, so that figures still sum to the whole's.
//
//   main ─ load ─ parse ─ [row]        [row] stands for all children of parse that were folded, and
//        └ serve                       for all nodes below them
//
// `Node` has the member `parent`; node 0 is the root, and a parent's index is smaller than a
// child's. The same holds for the pruned tree.
//
// Thread safety: pure functions. Memory: a few numbers for each node of the whole tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace memprof {

struct PrunedNode {
  static constexpr uint32_t kRow = ~uint32_t{0};
  uint32_t parent = 0;  // in the pruned tree
  uint32_t node = 0;    // in the whole tree; kRow: a row of folded nodes
};

struct PrunedTree {
  std::vector<PrunedNode> nodes;
  std::vector<uint32_t> place;  // for each node of the whole tree, its place here, or its row's
  uint64_t folded_nodes = 0;
};

// The importance of a node is its largest share of any weight. A node that is small in one figure but
// has most of another therefore stays. Shares include the nodes below. `own(k)` returns each node's
// own weight of the k-th kind, as a vector of double; none is negative. Invariant: no node is more
// important than its parent.
template <typename Node, typename Own>
std::vector<double> Importance(const std::vector<Node>& nodes, size_t kinds, Own own) {
  std::vector<double> importance(nodes.size(), 0);
  for (size_t k = 0; k < kinds; ++k) {
    std::vector<double> weight = own(k);
    for (size_t i = nodes.size(); i-- > 1;) weight[nodes[i].parent] += weight[i];
    const double whole = weight[0];
    if (!(whole > 0)) continue;
    for (size_t i = 0; i < nodes.size(); ++i) {
      importance[i] = std::max(importance[i], weight[i] / whole);
    }
  }
  return importance;
}

// The nodes, the most important first, a parent before its children.
inline std::vector<uint32_t> ByImportance(const std::vector<double>& importance) {
  std::vector<uint32_t> order(importance.size());
  std::iota(order.begin(), order.end(), 0u);
  // Stable: among equals the parent, which has the smaller index, comes first.
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return importance[a] > importance[b]; });
  return order;
}

// Keeps the first nodes of `order`. `takes(node)` is asked for one after another, a parent before its
// children, until it first says no. The root stays in any case.
template <typename Node, typename Takes>
PrunedTree Prune(const std::vector<Node>& nodes, const std::vector<uint32_t>& order, Takes takes) {
  std::vector<bool> stays(nodes.size());
  for (const uint32_t node : order) {
    if (!takes(node)) break;
    stays[node] = true;
  }
  stays[0] = true;

  PrunedTree tree;
  tree.place.resize(nodes.size());
  std::vector<uint32_t> row(nodes.size(), PrunedNode::kRow);  // below each node; kRow: none yet
  const auto append = [&tree](uint32_t parent, uint32_t node) {
    tree.nodes.push_back({parent, node});
    return static_cast<uint32_t>(tree.nodes.size() - 1);
  };
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const uint32_t parent = nodes[i].parent;
    if (stays[i]) {
      tree.place[i] = append(tree.place[parent], i);
      continue;
    }
    ++tree.folded_nodes;
    if (!stays[parent]) {
      tree.place[i] = tree.place[parent];
      continue;
    }
    if (row[parent] == PrunedNode::kRow) row[parent] = append(tree.place[parent], PrunedNode::kRow);
    tree.place[i] = row[parent];
  }
  return tree;
}

}  // namespace memprof

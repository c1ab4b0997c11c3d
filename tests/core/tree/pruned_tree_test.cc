#include "core/tree/pruned_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/snapshot/snapshot.h"

namespace memprof {
namespace {

constexpr uint32_t kRow = PrunedNode::kRow;

std::vector<double> ImportanceOf(const std::vector<SnapshotNode>& nodes,
                                 const std::vector<double>& own) {
  return Importance(nodes, 1, [&](size_t) { return own; });
}

PrunedTree Keep(size_t most, const std::vector<SnapshotNode>& nodes,
                const std::vector<double>& own) {
  return Prune(nodes, ByImportance(ImportanceOf(nodes, own)),
               [&most](uint32_t) { return most-- > 0; });
}

std::vector<std::pair<uint32_t, uint32_t>> Nodes(const PrunedTree& tree) {
  std::vector<std::pair<uint32_t, uint32_t>> nodes;
  for (const PrunedNode& node : tree.nodes) nodes.emplace_back(node.parent, node.node);
  return nodes;
}

// main calls load, which calls parse and read, and serve.
const std::vector<SnapshotNode> kNodes = {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {2, 4}, {1, 5}};

TEST(Importance, IsTheLargestShareOfAnyWeightWithWhatIsBelow) {
  const std::vector<SnapshotNode> nodes = {{0, 0}, {0, 1}, {1, 2}, {0, 3}};
  const std::vector<std::vector<double>> own = {{0, 10, 20, 70}, {0, 0, 1, 3}};
  const std::vector<double> importance = Importance(nodes, 2, [&](size_t k) { return own[k]; });
  EXPECT_EQ(importance, (std::vector<double>{1, 0.3, 0.25, 0.75}));
}

TEST(Importance, OfNothingIsNone) {
  EXPECT_EQ(ImportanceOf(kNodes, {0, 0, 0, 0, 0, 0}), std::vector<double>(6, 0.0));
}

TEST(PrunedTree, IsTheWholeOneIfAllIsTaken) {
  const PrunedTree tree = Keep(6, kNodes, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(tree.folded_nodes, 0u);
  EXPECT_EQ(tree.place, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Nodes(tree), (std::vector<std::pair<uint32_t, uint32_t>>{
                             {0, 0}, {0, 1}, {1, 2}, {2, 3}, {2, 4}, {1, 5}}));
}

TEST(PrunedTree, FoldsTheLeastImportantIntoARowBelowTheirParent) {
  const PrunedTree tree = Keep(4, kNodes, {0, 0, 0, 1, 50, 2});
  EXPECT_EQ(tree.folded_nodes, 2u);
  EXPECT_EQ(Nodes(tree), (std::vector<std::pair<uint32_t, uint32_t>>{
                             {0, 0}, {0, 1}, {1, 2}, {2, kRow}, {2, 4}, {1, kRow}}));
  EXPECT_EQ(tree.place, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(PrunedTree, HasOneRowForAllBelowAParent) {
  const PrunedTree tree = Keep(2, kNodes, {0, 100, 1, 1, 1, 1});
  EXPECT_EQ(tree.folded_nodes, 4u);
  EXPECT_EQ(Nodes(tree), (std::vector<std::pair<uint32_t, uint32_t>>{{0, 0}, {0, 1}, {1, kRow}}));
  EXPECT_EQ(tree.place, (std::vector<uint32_t>{0, 1, 2, 2, 2, 2}));
}

TEST(PrunedTree, HasTheRootEvenIfNothingIsTaken) {
  const PrunedTree tree = Keep(0, kNodes, {0, 0, 0, 1, 50, 2});
  EXPECT_EQ(Nodes(tree), (std::vector<std::pair<uint32_t, uint32_t>>{{0, 0}, {0, kRow}}));
  EXPECT_EQ(tree.folded_nodes, 5u);
}

TEST(PrunedTree, KeepsEachNodeBelowOneThatStaysWhateverTheWeights) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<SnapshotNode> nodes(1);
    std::vector<double> own = {0};
    for (uint32_t i = 1; i < 200; ++i) {
      nodes.push_back({static_cast<uint32_t>(random() % i), i});
      own.push_back(static_cast<double>(random() % 4));
    }
    const PrunedTree tree = Keep(random() % 200, nodes, own);
    for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
      ASSERT_LT(tree.nodes[i].parent, i);
      ASSERT_NE(tree.nodes[tree.nodes[i].parent].node, kRow);
      if (tree.nodes[i].node == kRow) continue;
      ASSERT_EQ(tree.nodes[i].parent, tree.place[nodes[tree.nodes[i].node].parent]);
    }
    ASSERT_EQ(tree.place.size(), nodes.size());
  }
}

}  // namespace
}  // namespace memprof

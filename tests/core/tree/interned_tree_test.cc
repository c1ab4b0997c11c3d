#include "core/tree/interned_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "core/snapshot/snapshot.h"

namespace memprof {
namespace {

TEST(InternedTree, HasARootAtFirst) {
  const InternedTree<SnapshotNode> tree;
  EXPECT_EQ(tree.nodes(), std::vector<SnapshotNode>(1));
}

TEST(InternedTree, GivesEqualPathsOneNode) {
  InternedTree<SnapshotNode> tree;
  const uint32_t a = tree.Child(0, 7);
  const uint32_t b = tree.Child(a, 3);
  EXPECT_EQ(tree.Child(0, 7), a);
  EXPECT_EQ(tree.Child(a, 3), b);
  EXPECT_EQ(tree.size(), 3u);
}

TEST(InternedTree, TellsTheSameFrameBelowAnotherParentApart) {
  InternedTree<SnapshotNode> tree;
  const uint32_t a = tree.Child(0, 0);
  const uint32_t b = tree.Child(a, 0);
  EXPECT_NE(a, 0u);
  EXPECT_NE(b, a);
  const std::vector<SnapshotNode> nodes = {{0, 0}, {0, 0}, {a, 0}};
  EXPECT_EQ(std::move(tree).Take(), nodes);
}

TEST(InternedTree, KeepsWhatItsUserKeepsByNode) {
  struct Node {
    uint32_t parent = 0;
    uint32_t frame = 0;
    int visits = 5;
  };
  InternedTree<Node> tree;
  for (int i = 0; i < 3; ++i) ++tree[tree.Child(0, 9)].visits;
  EXPECT_EQ(tree[1].visits, 8);
  EXPECT_EQ(tree[0].visits, 5);
}

// Covers many growths of its index, and frames that differ only in high bits.
TEST(InternedTree, IsWhatAMapWouldHaveMade) {
  std::mt19937_64 random(1);
  InternedTree<SnapshotNode> tree;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> expected;
  for (int i = 0; i < 50'000; ++i) {
    const auto parent = static_cast<uint32_t>(random() % tree.size());
    const auto frame = static_cast<uint32_t>(random() % 8) << 29;
    const auto next = static_cast<uint32_t>(tree.size());
    const uint32_t place = expected.try_emplace({parent, frame}, next).first->second;
    ASSERT_EQ(tree.Child(parent, frame), place);
    ASSERT_EQ(tree.size(), expected.size() + 1);
    ASSERT_EQ(tree[place], (SnapshotNode{parent, frame}));
  }
}

}  // namespace
}  // namespace memprof

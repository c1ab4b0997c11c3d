#include "core/tree/path_to_root.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/snapshot/snapshot.h"

namespace memprof {
namespace {

std::vector<uint32_t> Path(const std::vector<SnapshotNode>& nodes, uint32_t from) {
  std::vector<uint32_t> path;
  for (const uint32_t node : PathToRoot(nodes, from)) path.push_back(node);
  return path;
}

TEST(PathToRoot, LeadsFromTheNodeToBelowTheRoot) {
  const std::vector<SnapshotNode> nodes = {{0, 0}, {0, 4}, {1, 5}, {1, 6}, {3, 7}};
  EXPECT_EQ(Path(nodes, 4), (std::vector<uint32_t>{4, 3, 1}));
  EXPECT_EQ(Path(nodes, 1), std::vector<uint32_t>{1});
}

TEST(PathToRoot, IsEmptyFromTheRoot) {
  EXPECT_TRUE(Path({{0, 0}}, 0).empty());
  EXPECT_TRUE(Path({}, 0).empty());
}

}  // namespace
}  // namespace memprof

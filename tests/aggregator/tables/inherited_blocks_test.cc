#include "aggregator/tables/inherited_blocks.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

class InheritedBlocksTest : public testing::Test {
 protected:
  // Everything that is live is inherited, and `live_` is a child's.
  void Fork() {
    inherited_.Push(live_);
    ASSERT_TRUE(live_.Init(1 << 16));
  }
  void SetUp() override { ASSERT_TRUE(live_.Init(1 << 16)); }
  void TearDown() override { live_.Destroy(); }

  LiveMap live_;
  InheritedBlocks inherited_;
};

TEST_F(InheritedBlocksTest, HasWhatWasLiveAtTheForkAndTheChildHasNothing) {
  ASSERT_TRUE(live_.Insert(0x1000, {100, 7}));
  Fork();
  Block block;
  EXPECT_FALSE(live_.Remove(0x1000, &block));
  ASSERT_TRUE(inherited_.Take(0x1000, &block));
  EXPECT_EQ(block, (Block{100, 7}));
  EXPECT_FALSE(inherited_.Take(0x1000, &block));
}

TEST_F(InheritedBlocksTest, TakesBackABlockThatWasNotFreedAfterAll) {
  ASSERT_TRUE(live_.Insert(0x1000, {100, 7}));
  Fork();
  Block block;
  ASSERT_TRUE(inherited_.Take(0x1000, &block));
  ASSERT_TRUE(inherited_.PutBack(0x1000, block));
  EXPECT_TRUE(inherited_.Take(0x1000, &block));
}

TEST_F(InheritedBlocksTest, FindsWhatEachGenerationHadUntilTheOldestIsForgotten) {
  for (uintptr_t generation = 1; generation <= 20; ++generation) {
    ASSERT_TRUE(live_.Insert(generation * 4096, {generation, 1}));
    Fork();
  }
  Block block;
  for (uintptr_t generation = 1; generation <= 20; ++generation) {
    EXPECT_EQ(inherited_.Take(generation * 4096, &block), generation > 4) << generation;
  }
}

TEST_F(InheritedBlocksTest, HasEveryBlockOfALargeMap) {
  for (uintptr_t i = 1; i <= 100000; ++i) ASSERT_TRUE(live_.Insert(i * 32, {i, 1}));
  Fork();
  Block block;
  for (uintptr_t i = 1; i <= 100000; ++i) {
    ASSERT_TRUE(inherited_.Take(i * 32, &block));
    ASSERT_EQ(block.size, i);
  }
}

}  // namespace
}  // namespace memprof

#include "core/inspect/block_index.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace memprof {
namespace {

uint32_t Naive(const std::vector<LiveBlock>& blocks, uint64_t address) {
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    if (address >= blocks[i].address && address < EndOf(blocks[i])) return i;
  }
  return kNoBlock;
}

TEST(BlockIndex, FindsNothingWithoutBlocks) {
  EXPECT_EQ(BlockIndex({}).Find(4096), kNoBlock);
  EXPECT_EQ(BlockIndex({}).FirstFrom(4096), 0u);
}

TEST(BlockIndex, FindsABlockByItsFirstAndLastByteOnly) {
  const std::vector<LiveBlock> blocks = {{0x1000, 24}, {0x1020, 0}, {0x1030, 1}};
  const BlockIndex index(blocks);
  EXPECT_EQ(index.Find(0xfff), kNoBlock);
  EXPECT_EQ(index.Find(0x1000), 0u);
  EXPECT_EQ(index.Find(0x1017), 0u);
  EXPECT_EQ(index.Find(0x1018), kNoBlock);
  EXPECT_EQ(index.Find(0x1020), 1u);
  EXPECT_EQ(index.Find(0x1021), kNoBlock);
  EXPECT_EQ(index.Find(0x1030), 2u);
  EXPECT_EQ(index.Find(~uint64_t{0}), kNoBlock);
  EXPECT_EQ(index.Find(uint64_t{1} << 47), kNoBlock);
}

TEST(BlockIndex, FindsTheMiddleOfBlocksThatAreLargerThanItsParts) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  const std::vector<LiveBlock> blocks = {
      {kGiB - 64, 32}, {kGiB, 3 * kGiB}, {4 * kGiB + 8, 16}, {5 * kGiB, uint64_t{1} << 46}};
  const BlockIndex index(blocks);
  EXPECT_EQ(index.Find(kGiB + 5), 1u);
  EXPECT_EQ(index.Find(2 * kGiB + 4096), 1u);
  EXPECT_EQ(index.Find(4 * kGiB - 1), 1u);
  EXPECT_EQ(index.Find(4 * kGiB), kNoBlock);
  EXPECT_EQ(index.Find(4 * kGiB + 16), 2u);
  EXPECT_EQ(index.Find((uint64_t{1} << 46) + 4096), 3u);
}

TEST(BlockIndex, AgreesWithASearchOfAllBlocks) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<LiveBlock> blocks;
    uint64_t at = (uint64_t{1} << 22) - 4096;
    for (int i = 0; i < 300; ++i) {
      at += random() % 40 == 0 ? random() % (uint64_t{3} << 22) / 8 * 8 : 8 * (random() % 60);
      const uint64_t size = random() % 30 == 0 ? random() % (uint64_t{6} << 22) : random() % 1500;
      blocks.push_back({at, size});
      at = (EndOf(blocks.back()) + 7) / 8 * 8;
    }
    const BlockIndex index(blocks);
    for (const LiveBlock& block : blocks) {
      for (const uint64_t address :
           {block.address - 1, block.address, block.address + 1, EndOf(block) - 1, EndOf(block),
            block.address + block.size / 2}) {
        ASSERT_EQ(index.Find(address), Naive(blocks, address)) << address;
      }
    }
    for (int i = 0; i < 500; ++i) {
      const uint64_t address = random() % (at + 100);
      ASSERT_EQ(index.Find(address), Naive(blocks, address)) << address;
    }
  }
}

TEST(BlockIndex, FindsBlocksInMorePartsThanItHasMemoryFor) {
  std::vector<LiveBlock> blocks;
  for (uint64_t i = 1; i <= 9000; ++i) blocks.push_back({i << 22 | 64, 100});
  const BlockIndex index(blocks);
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(index.Find(blocks[i].address + 99), i);
    ASSERT_EQ(index.Find(blocks[i].address + 100), kNoBlock);
    ASSERT_EQ(index.Find(blocks[i].address - 1), kNoBlock);
  }
}

}  // namespace
}  // namespace memprof

#include "aggregator/live_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace memprof {
namespace {

class LiveMapTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(map_.Init(1 << 22)); }
  void TearDown() override { map_.Destroy(); }

  LiveMap map_;
};

TEST_F(LiveMapTest, GivesBackWhatWasInsertedOnce) {
  ASSERT_TRUE(map_.Insert(0x1000, {100, 7}));
  Block block;
  ASSERT_TRUE(map_.Remove(0x1000, &block));
  EXPECT_EQ(block, (Block{100, 7}));
  EXPECT_FALSE(map_.Remove(0x1000, &block));
}

TEST_F(LiveMapTest, KeepsSizesAboveFourGibibytesAndTheLargestSite) {
  const uint64_t sizes[] = {0, 1, (1ull << 32) + 5, (1ull << 40) + 3, (1ull << 47) - 1};
  for (const uint64_t size : sizes) {
    ASSERT_TRUE(map_.Insert(0x7ffffffffff8, {size, kMaxCells - 1}));
    Block block;
    ASSERT_TRUE(map_.Remove(0x7ffffffffff8, &block));
    EXPECT_EQ(block, (Block{size, kMaxCells - 1}));
  }
}

TEST_F(LiveMapTest, RefusesWhatItCannotExpress) {
  EXPECT_FALSE(map_.Insert(0x1001, {1, 1}));
  EXPECT_FALSE(map_.Insert(1ull << 47, {1, 1}));
  EXPECT_FALSE(map_.Insert(0x1000, {1ull << 47, 1}));
  Block block;
  EXPECT_FALSE(map_.Remove(0, &block));
}

TEST_F(LiveMapTest, AgreesWithStdMapOverRandomOperations) {
  std::mt19937_64 random(1);
  std::map<uintptr_t, Block> model;
  for (int i = 0; i < 400000; ++i) {
    // Phases of growth and of shrinking; addresses come back.
    const bool growing = (i / 50000) % 2 == 0;
    const uintptr_t address = (random() % 100000 + 1) * (random() % 2 == 0 ? 16 : 4096);
    const auto found = model.find(address);
    if (found == model.end() && random() % 4 < (growing ? 3u : 1u)) {
      const Block block = {random() % (1ull << 47), static_cast<uint32_t>(random() % kMaxCells)};
      ASSERT_TRUE(map_.Insert(address, block));
      model[address] = block;
    } else {
      Block block;
      ASSERT_EQ(map_.Remove(address, &block), found != model.end());
      if (found != model.end()) {
        ASSERT_EQ(block, found->second);
        model.erase(found);
      }
    }
  }
  EXPECT_EQ(map_.CountForTest(), model.size());
  for (const auto& [address, expected] : model) {
    Block block;
    ASSERT_TRUE(map_.Remove(address, &block));
    ASSERT_EQ(block, expected);
  }
  EXPECT_EQ(map_.CountForTest(), 0u);
}

TEST_F(LiveMapTest, NeverGrowsUnderChurnOfAConstantPopulation) {
  std::mt19937_64 random(2);
  std::vector<uintptr_t> addresses(20000);
  uintptr_t next = 16;
  for (auto& address : addresses) ASSERT_TRUE(map_.Insert(address = next += 16, {1, 1}));
  for (int round = 0; round < 400000; ++round) {
    uintptr_t& address = addresses[random() % addresses.size()];
    Block block;
    ASSERT_TRUE(map_.Remove(address, &block));
    ASSERT_TRUE(map_.Insert(address = next += 16, {1, 1}));
  }
  // At least 7 blocks a bucket in the long run.
  EXPECT_LT(map_.buckets(), addresses.size() / 7);
}

// Each thread allocates addresses that only it uses now; blocks are handed to the next thread,
// which frees them, while the table grows from its smallest size.
TEST_F(LiveMapTest, LosesNothingWhileThreadsGrowItTogether) {
  constexpr int kThreads = 4;
  constexpr size_t kBatches = 60;
  constexpr size_t kBatch = 1000;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  std::atomic<size_t> filled[kThreads] = {};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto address = [&](int owner, size_t batch, size_t i) {
        return ((batch * kBatch + i) * kThreads + static_cast<size_t>(owner) + 1) * 16;
      };
      const int from = (t + 1) % kThreads;
      for (size_t batch = 0; batch < kBatches; ++batch) {
        for (size_t i = 0; i < kBatch; ++i) {
          if (!map_.Insert(address(t, batch, i), {batch * kBatch + i, static_cast<uint32_t>(t)})) {
            ++wrong;
          }
        }
        filled[t].store(batch + 1, std::memory_order_release);
        while (filled[from].load(std::memory_order_acquire) <= batch) std::this_thread::yield();
        for (size_t i = 0; i < kBatch; i += 2) {  // the other half stays
          Block block;
          if (!map_.Remove(address(from, batch, i), &block) ||
              block != Block{batch * kBatch + i, static_cast<uint32_t>(from)}) {
            ++wrong;
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(map_.CountForTest(), kThreads * kBatches * kBatch / 2);
}

// One small set of addresses goes round and round while another thread makes the table split: every
// Remove races the moving of the very entry it wants.
TEST_F(LiveMapTest, FindsABlockThatIsJustBeingMoved) {
  std::atomic<bool> done{false};
  std::atomic<int> lost{0};
  std::thread churn([&] {
    uint64_t round = 0;
    while (!done) {
      ++round;
      for (uintptr_t i = 1; i <= 500; ++i) {
        if (!map_.Insert(i * 65536, {round, static_cast<uint32_t>(i)})) ++lost;
      }
      for (uintptr_t i = 1; i <= 500; ++i) {
        Block block;
        if (!map_.Remove(i * 65536, &block) || block != Block{round, static_cast<uint32_t>(i)}) {
          ++lost;
        }
      }
    }
  });
  for (uintptr_t i = 1; i <= 200000; ++i) ASSERT_TRUE(map_.Insert(i * 16 + 8, {i, 1}));
  done = true;
  churn.join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(map_.CountForTest(), 200000u);
}

}  // namespace
}  // namespace memprof

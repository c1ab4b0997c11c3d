#include "aggregator/tables/live_map.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

#include "aggregator/basics/private_memory.h"
#include "tests/aggregator/tables/single_step.h"

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

// The number of buckets after a population was replaced several times.
size_t BucketsAfterChurn(LiveMap& map, size_t population) {
  std::mt19937_64 random(2);
  std::vector<uintptr_t> addresses(population);
  uintptr_t next = 16;
  bool right = true;
  for (auto& address : addresses) right = map.Insert(address = next += 16, {1, 1}) && right;
  for (size_t round = 0; round < 3 * population; ++round) {
    uintptr_t& address = addresses[random() % addresses.size()];
    Block block;
    right = map.Remove(address, &block) && right;
    right = map.Insert(address = next += 16, {1, 1}) && right;
  }
  EXPECT_TRUE(right);
  return map.buckets();
}

TEST_F(LiveMapTest, NeverGrowsUnderChurnOfAConstantPopulation) {
  EXPECT_LT(BucketsAfterChurn(map_, 250000), 250000u / 7);
}

TEST_F(LiveMapTest, HasRoomToSpareOnlyWhileItIsSmall) {
  const size_t buckets = BucketsAfterChurn(map_, 20000);
  EXPECT_GT(buckets, 20000u / 7);
  EXPECT_LT(buckets, 20000u / 4);
}

// Blocks come to places at random, so any bucket may be full for once.
TEST_F(LiveMapTest, DoesNotGrowByChance) {
  constexpr size_t kPopulation = 4096;
  std::mt19937_64 random(3);
  const auto somewhere = [&] { return (random() & 0x3ffffffff0) + 0x10000000; };
  std::vector<uintptr_t> addresses(kPopulation);
  bool right = true;
  for (auto& address : addresses) right = map_.Insert(address = somewhere(), {1, 1}) && right;
  const auto replace = [&](size_t times) {
    for (size_t i = 0; i < times; ++i) {
      uintptr_t& address = addresses[random() % kPopulation];
      Block block;
      right = map_.Remove(address, &block) && right;
      right = map_.Insert(address = somewhere(), {1, 1}) && right;
    }
  };
  replace(500000);
  const uint64_t bytes = PrivateBytes();
  replace(20000000);
  EXPECT_TRUE(right);
  EXPECT_LT(map_.buckets(), kPopulation / 6 * 17 / 16 + 2);
  EXPECT_EQ(PrivateBytes(), bytes);
}

// Each thread allocates addresses that only it uses now. It passes blocks to the next thread, which
// frees them, while the table grows from its smallest size.
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

// One small set of addresses is used again and again while another thread makes the table split:
// every Remove races the moving of its own entry.
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
        if (map_.Remove(i * 65536, &block)) ++lost;  // nor is it found twice
      }
    }
  });
  for (uintptr_t i = 1; i <= 200000; ++i) ASSERT_TRUE(map_.Insert(i * 16 + 8, {i, 1}));
  done = true;
  churn.join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(map_.CountForTest(), 200000u);
}

// A program that frees a block twice at the same time is at fault, but one of the calls gets the
// block, and both return.
TEST_F(LiveMapTest, GivesABlockOnceToTwoThatRemoveIt) {
  constexpr uintptr_t kBlocks = 200;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> rounds{0}, removed_by_other{0}, others_rounds{0};
  const auto remove_all = [&] {
    uint64_t removed = 0;
    for (uintptr_t i = 1; i <= kBlocks; ++i) {
      Block block;
      removed += map_.Remove(i * 65536, &block);
    }
    return removed;
  };
  std::thread other([&] {
    for (uint64_t round = 1; !done; ++round) {
      while (rounds < round && !done) std::this_thread::yield();
      removed_by_other += remove_all();
      others_rounds = round;
    }
  });
  uint64_t wrong = 0;
  std::thread churn([&] {
    for (uint64_t round = 1; !done; ++round) {
      for (uintptr_t i = 1; i <= kBlocks; ++i) wrong += !map_.Insert(i * 65536, {i, 1});
      removed_by_other = 0;
      rounds = round;
      const uint64_t removed = remove_all();
      while (others_rounds < round && !done) std::this_thread::yield();
      wrong += !done && removed + removed_by_other != kBlocks;
    }
    remove_all();
  });
  for (uintptr_t i = 1; i <= 200000; ++i) {
    ASSERT_TRUE(map_.Insert(i * 16 + 8, {i, 1}));
    while (rounds < i / 1000) std::this_thread::yield();  // so that they meet a table that grows
  }
  done = true;
  churn.join();
  other.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(map_.CountForTest(), 200000u);
}

// An insert that splits a bucket is interrupted by a signal handler, after each 23rd of its
// instructions in turn. The handler frees every block, frees every address again (as if the program
// got it by a call that the tracker doesn't see), and inserts every second block again.
class SteppedLiveMap : public LiveMapTest {
 protected:
  static constexpr uintptr_t kStep = 4096;

  void TearDown() override {
    signal(SIGTRAP, SIG_DFL);
    LiveMapTest::TearDown();
  }

  // The number of blocks before the insert that makes the table grow for the second time. The first
  // such insert also looks at the table's load, which takes long.
  void Fill() {
    for (uintptr_t i = 1; i <= blocks; ++i) {
      ASSERT_TRUE(map_.Insert(i * kStep, {i, static_cast<uint32_t>(i)}));
    }
  }
  uintptr_t BlocksBeforeASplit() {
    size_t before = 0;
    for (uintptr_t i = 1;; ++i) {
      const size_t buckets = map_.buckets();
      EXPECT_TRUE(map_.Insert(i * kStep, {i, static_cast<uint32_t>(i)}));
      if (map_.buckets() != buckets && before++ == 1) return i - 1;
    }
  }

  static void OnStep(int, siginfo_t*, void* context) {
    if (++steps != stop_at) return;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~greg_t{kTrapFlag};
    for (uintptr_t i = 1; i <= blocks; ++i) {
      Block block = {};
      wrong += !map->Remove(i * kStep, &block) || block != Block{i, static_cast<uint32_t>(i)};
      wrong += map->Remove(i * kStep, &block);
      if (i % 2 == 0) wrong += !map->Insert(i * kStep, {i + 7, 1});
    }
  }

  static void LeaveAtStep(int, siginfo_t*, void* context) {
    if (++steps != stop_at) return;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~greg_t{kTrapFlag};
    siglongjmp(left, 1);
  }

  static inline sigjmp_buf left;
  static inline LiveMap* map;
  static inline uintptr_t blocks;
  static inline int steps;
  static inline int stop_at;
  static inline int wrong;
};

TEST_F(SteppedLiveMap, NeverTakesACopyThatIsNotDoneForABlock) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's own signal handling can't be stepped";
#endif
  constexpr int kStride = 23 * kStepsOfSanitizer;
  map = &map_;
  blocks = BlocksBeforeASplit();
  struct sigaction action = {};
  action.sa_sigaction = OnStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  wrong = 0;
  stop_at = 1;
  for (bool stopped = true; stopped; stop_at += kStride) {
    map_.Destroy();
    ASSERT_TRUE(map_.Init(1 << 16));
    Fill();
    steps = 0;
    const uintptr_t last = (blocks + 1) * kStep;
    StartStepping();
    const bool inserted = map_.Insert(last, {1, 1});
    StopStepping();
    ASSERT_TRUE(inserted);
    stopped = steps >= stop_at;
    if (!stopped) break;
    Block block;
    ASSERT_TRUE(map_.Remove(last, &block));
    for (uintptr_t i = 1; i <= blocks; ++i) {
      ASSERT_EQ(map_.Remove(i * kStep, &block), i % 2 == 0);
      ASSERT_TRUE(i % 2 != 0 || block == (Block{i + 7, 1}));
    }
    ASSERT_EQ(wrong, 0) << "after instruction " << stop_at;
    ASSERT_EQ(map_.CountForTest(), 0u);
  }
  EXPECT_GT(stop_at, 300) << "nothing was stepped";
}

// Earlier blocks are there once and unchanged, and the map goes on growing.
TEST_F(SteppedLiveMap, EndsASplitThatAHandlerLeft) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's own signal handling can't be stepped";
#endif
  constexpr int kStride = 7 * kStepsOfSanitizer;
  map = &map_;
  blocks = BlocksBeforeASplit();
  struct sigaction action = {};
  action.sa_sigaction = LeaveAtStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  static int splits_left;
  splits_left = 0;
  static bool stopped;
  stopped = true;
  for (stop_at = 1; stopped; stop_at += kStride) {
    map_.Destroy();
    ASSERT_TRUE(map_.Init(1 << 16));
    Fill();
    const size_t buckets = map_.buckets();
    const uintptr_t last = (blocks + 1) * kStep;
    steps = 0;
    stopped = sigsetjmp(left, 1) != 0;
    if (!stopped) {
      StartStepping();
      map_.Insert(last, {1, 1});
      StopStepping();
    }
    Block block;
    // Half of them go before the mend, as other threads may free them.
    for (uintptr_t i = 1; i <= blocks; i += 2) {
      ASSERT_TRUE(map_.Remove(i * kStep, &block)) << "after instruction " << stop_at;
      ASSERT_EQ(block, (Block{i, static_cast<uint32_t>(i)}));
    }
    map_.EndLeftSplit();
    splits_left += stopped && map_.buckets() != buckets;
    map_.Remove(last, &block);
    for (uintptr_t i = 1; i <= blocks; ++i) {
      ASSERT_EQ(map_.Remove(i * kStep, &block), i % 2 == 0) << "after instruction " << stop_at;
      ASSERT_TRUE(i % 2 != 0 || block == (Block{i, static_cast<uint32_t>(i)}));
    }
    // At most the insert's own slot is left as it was.
    ASSERT_LE(map_.CountForTest(), 1u) << "after instruction " << stop_at;
    const size_t before = map_.buckets();
    for (uintptr_t i = 1; i <= 4 * blocks; ++i) ASSERT_TRUE(map_.Insert(i * kStep, {i, 1}));
    ASSERT_GT(map_.buckets(), before) << "after instruction " << stop_at;
  }
  EXPECT_GT(splits_left, 20) << "no split was left";
}

}  // namespace
}  // namespace memprof

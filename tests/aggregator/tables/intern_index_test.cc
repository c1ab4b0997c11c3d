#include "aggregator/tables/intern_index.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/aggregator/tables/single_step.h"

namespace memprof {
namespace {

uint64_t HashOf(uint32_t id) { return MixHash(id, 17); }

uint32_t Find(InternIndex& index, uint32_t id) {
  return index.Find(HashOf(id), [&](uint32_t candidate) { return candidate == id; });
}

class InternIndexTest : public testing::Test {
 protected:
  void TearDown() override { index_.Destroy(); }
  InternIndex index_;
};

TEST_F(InternIndexTest, FindsNothingWhileEmpty) { EXPECT_EQ(Find(index_, 5), InternIndex::kNone); }

TEST_F(InternIndexTest, FindsEverythingAfterItGrewManyTimes) {
  for (uint32_t id = 0; id < 100000; ++id) index_.Insert(HashOf(id), id);
  for (uint32_t id = 0; id < 100000; ++id) ASSERT_EQ(Find(index_, id), id);
  EXPECT_EQ(Find(index_, 100000), InternIndex::kNone);
}

TEST_F(InternIndexTest, TellsRecordsOfOneHashApart) {
  for (uint32_t id = 0; id < 50; ++id) index_.Insert(1234, id);
  for (uint32_t id = 0; id < 50; ++id) {
    EXPECT_EQ(index_.Find(1234, [&](uint32_t candidate) { return candidate == id; }), id);
  }
}

TEST_F(InternIndexTest, NeverFindsWhatWasForgotten) {
  for (uint32_t id = 0; id < 5000; ++id) index_.Insert(HashOf(id), id);
  index_.Forget([](uint32_t id) { return id % 3 == 0; });
  for (uint32_t id = 0; id < 5000; ++id) {
    ASSERT_EQ(Find(index_, id), id % 3 == 0 ? InternIndex::kNone : id);
  }
}

// What an older table has is copied to the newest as it is found. Forgotten between the two, it
// stays forgotten.
TEST_F(InternIndexTest, NeverFindsAgainWhatIsForgottenWhileItIsCopied) {
  for (uint32_t id = 0; id < 5000; ++id) index_.Insert(HashOf(id), id);
  for (uint32_t id = 0; id < 100; ++id) {  // these lie in the oldest table alone
    index_.Find(HashOf(id), [&](uint32_t candidate) {
      if (candidate == id) index_.Forget([&](uint32_t gone) { return gone == id; });
      return candidate == id;
    });
    ASSERT_EQ(Find(index_, id), InternIndex::kNone);
  }
}

// The same, and what interrupts the copying after each of its instructions finds nothing either: it
// would copy what it finds.
class SteppedInternIndex : public InternIndexTest {
 protected:
  void TearDown() override {
    signal(SIGTRAP, SIG_DFL);
    InternIndexTest::TearDown();
  }
  static void OnStep(int) {
    ++steps;
    found += Find(*index, id) != InternIndex::kNone;
  }

  static inline InternIndex* index;
  static inline uint32_t id;
  static inline int steps;
  static inline int found;
};

TEST_F(SteppedInternIndex, NeverShowsACopyOfWhatIsForgotten) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's own signal handling can't be stepped";
#endif
  for (uint32_t i = 0; i < 5000; ++i) index_.Insert(HashOf(i), i);
  index = &index_;
  struct sigaction action = {};
  action.sa_handler = OnStep;
  sigaction(SIGTRAP, &action, nullptr);
  steps = found = 0;
  for (id = 0; id < 3; ++id) {
    index_.Find(HashOf(id), [&](uint32_t candidate) {
      if (candidate != id) return false;
      index_.Forget([&](uint32_t gone) { return gone == id; });
      StartStepping();
      return true;
    });
    StopStepping();
    EXPECT_EQ(Find(index_, id), InternIndex::kNone);
  }
  EXPECT_EQ(found, 0);
  EXPECT_GT(steps, 3 * 20) << "nothing was stepped";
}

TEST_F(InternIndexTest, ForgetsForGoodWhileThreadsCopy) {
  for (uint32_t id = 0; id < 4000; ++id) index_.Insert(HashOf(id), id);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!done) {
        for (uint32_t id = 0; id < 4000; ++id) Find(index_, id);
      }
    });
  }
  for (uint32_t id = 0; id < 400; ++id) index_.Forget([&](uint32_t gone) { return gone == id; });
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (uint32_t id = 0; id < 4000; ++id) {
    ASSERT_EQ(Find(index_, id), id < 400 ? InternIndex::kNone : id);
  }
}

TEST_F(InternIndexTest, LosesNothingWhileThreadsInsertTogether) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 20000; ++i) {
        const uint32_t id = i * 4 + t;
        index_.Insert(HashOf(id), id);
        ASSERT_EQ(Find(index_, id), id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t id = 0; id < 80000; ++id) ASSERT_EQ(Find(index_, id), id);
}

}  // namespace
}  // namespace memprof

#include "aggregator/tables/intern_index.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

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

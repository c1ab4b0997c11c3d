#include "aggregator/tables/intern_index.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "aggregator/basics/system_calls.h"

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

// A full table would be searched from end to end for each record that isn't there.
TEST_F(InternIndexTest, WithoutMemoryItStaysSearchable) {
  uint32_t id = 0;
  while (id < 10000) {
    index_.Insert(HashOf(id), id);
    ++id;
  }
  allowed_system_calls.store(SystemCalls::kNone);
  for (; index_.HasRoom(); ++id) index_.Insert(HashOf(id), id);
  const uint32_t entered = id;
  for (uint32_t more = 0; more < 1000; ++more)
    index_.Insert(HashOf(entered + more), entered + more);
  // The tables before are half full.
  EXPECT_EQ(entered, 512u + 1024 + 2048 + 4096 + 16384 * 7 / 8);
  for (id = 0; id < entered; ++id) ASSERT_EQ(Find(index_, id), id);
  EXPECT_EQ(Find(index_, entered), InternIndex::kNone);
  // Memory again: it grows after a pause.
  allowed_system_calls.store(SystemCalls::kAny);
  uint32_t asked = 0;
  while (!index_.HasRoom() && asked < 10000) ++asked;
  EXPECT_TRUE(index_.HasRoom());
  EXPECT_GT(asked, 1000u);
}

TEST_F(InternIndexTest, HasTheRoomThatWasReserved) {
  index_.Insert(HashOf(0), 0);
  index_.Reserve(5000);
  allowed_system_calls.store(SystemCalls::kNone);
  for (uint32_t id = 1; id < 5000; ++id) {
    ASSERT_TRUE(index_.HasRoom());
    index_.Insert(HashOf(id), id);
  }
  for (uint32_t id = 0; id < 5000; ++id) ASSERT_EQ(Find(index_, id), id);
  allowed_system_calls.store(SystemCalls::kAny);
}

}  // namespace
}  // namespace memprof

#include "aggregator/tables/last_allocations.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <utility>

namespace memprof {
namespace {

TEST(LastAllocations, HaveNothingAtFirst) {
  const auto last = std::make_unique<LastAllocations>(LastAllocations{});
  for (const uint32_t threshold : {1u, 8u, 64u}) EXPECT_FALSE(last->Have(0x1000, 3, threshold));
}

TEST(LastAllocations, TellABlockFromAnotherThreadsAtItsAddress) {
  const auto last = std::make_unique<LastAllocations>(LastAllocations{});
  last->Note(0x1000, 3, 1);
  EXPECT_TRUE(last->Have(0x1000, 3, 1));
  EXPECT_FALSE(last->Have(0x1000, 4, 1));
}

// Compared with a list of all allocations, with addresses that are reused.
TEST(LastAllocations, HaveABlockAsLongAsFewerThanTheThresholdCameAfterIt) {
  std::mt19937_64 random(11);
  for (const uint32_t threshold : {1u, 2u, 3u, 7u, 63u, 64u}) {
    const auto last = std::make_unique<LastAllocations>(LastAllocations{});
    std::deque<std::pair<uintptr_t, uint32_t>> blocks;
    for (int i = 0; i < 20'000; ++i) {
      const uintptr_t address = 0x1000 + 16 * (random() % 90);
      const auto cell = static_cast<uint32_t>(random() % 3);
      if (random() % 2 == 0) {
        last->Note(address, cell, threshold);
        blocks.emplace_back(address, cell);
        if (blocks.size() > threshold) blocks.pop_front();
        continue;
      }
      bool expected = false;
      for (const auto& block : blocks) expected |= block == std::make_pair(address, cell);
      ASSERT_EQ(last->Have(address, cell, threshold), expected) << threshold;
    }
  }
}

TEST(LastAllocations, HaveNothingOfTheThreadBeforeOnceForgotten) {
  const auto last = std::make_unique<LastAllocations>(LastAllocations{});
  for (uint32_t i = 0; i < 10; ++i) last->Note(0x1000 + 16 * i, 3, 8);
  last->Forget();
  for (uint32_t i = 0; i < 10; ++i) EXPECT_FALSE(last->Have(0x1000 + 16 * i, 3, 8));
}

}  // namespace
}  // namespace memprof

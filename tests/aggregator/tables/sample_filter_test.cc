#include "aggregator/tables/sample_filter.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace memprof {
namespace {

std::unique_ptr<SampleFilter> Empty() { return std::make_unique<SampleFilter>(); }

TEST(SampleFilter, HasWhatWasAddedUntilItIsRemoved) {
  auto filter = Empty();
  EXPECT_FALSE(filter->MayHave(0x7f0000001010));
  filter->Add(0x7f0000001010);
  EXPECT_TRUE(filter->MayHave(0x7f0000001010));
  EXPECT_FALSE(filter->MayHave(0x7f0000001020));
  filter->Remove(0x7f0000001010);
  EXPECT_FALSE(filter->MayHave(0x7f0000001010));
}

TEST(SampleFilter, NeverMissesWhereManyAddressesMeet) {
  auto filter = Empty();
  constexpr uintptr_t kApart = uintptr_t{1} << 36;  // all in one place, more than a counter holds
  for (uintptr_t i = 1; i <= 1000; ++i) filter->Add(i * kApart);
  for (uintptr_t i = 1; i < 1000; ++i) {
    filter->Remove(i * kApart);
    EXPECT_TRUE(filter->MayHave(1000 * kApart));
  }
}

TEST(SampleFilter, TellsBlocksApartThatAreAPowerOfTwoApart) {
  for (const unsigned shift : {4u, 12u, 16u, 20u, 21u, 26u, 30u}) {
    auto filter = Empty();
    for (uintptr_t i = 0; i < 256; ++i) filter->Add(0x550000000010 + (2 * i << shift));
    int taken = 0;
    for (uintptr_t i = 0; i < 256; ++i) {
      taken += filter->MayHave(0x550000000010 + ((2 * i + 1) << shift)) ? 1 : 0;
    }
    EXPECT_LT(taken, 64) << shift;
  }
}

TEST(SampleFilter, IsRightForThreads) {
  auto filter = Empty();
  std::vector<std::thread> threads;
  for (uintptr_t id = 0; id < 4; ++id) {
    threads.emplace_back([&filter, id] {
      for (uintptr_t i = 0; i < 20'000; ++i) {
        // Places are shared by the threads, addresses are not.
        const uintptr_t address = (id + 1 + 4 * (i % 8)) << 36 | 0x10;
        filter->Add(address);
        EXPECT_TRUE(filter->MayHave(address));
        filter->Remove(address);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uintptr_t i = 0; i < 40; ++i) EXPECT_FALSE(filter->MayHave(i << 36 | 0x10));
}

}  // namespace
}  // namespace memprof

#include "core/snapshot/memory_record.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace memprof {
namespace {

int64_t SumOf(const std::vector<MemoryPart>& parts) {
  int64_t sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

int64_t PartOf(const MemorySample& sample, const std::string& name) {
  for (const MemoryPart& part : PartsOf(sample)) {
    if (part.name == name) return part.bytes;
  }
  return 0;
}

TEST(MemoryRecord, SumsPartsToTheRssWhateverTheAllocatorSays) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto some = [&] { return uint64_t{random() % 100000}; };
    const auto maybe = [&] {
      return random() % 2 == 0 ? std::optional<uint64_t>() : std::optional<uint64_t>(some());
    };
    MemorySample sample = {.rss_bytes = some(),
                           .anonymous_bytes = some(),
                           .mapped_bytes = some(),
                           .mapped_file_bytes = some(),
                           .file_bytes = some(),
                           .stack_bytes = some(),
                           .tracker_bytes = some(),
                           .live_bytes = some()};
    if (i % 2 == 0) {
      sample.allocator = {
          AllocatorProvider::kJemalloc, 1, maybe(), maybe(), maybe(), maybe(), maybe()};
    }
    ASSERT_EQ(SumOf(PartsOf(sample)), static_cast<int64_t>(sample.rss_bytes));
  }
}

TEST(MemoryRecord, NamesWhatIsLiveAndNotResident) {
  MemorySample sample = {.rss_bytes = 100, .anonymous_bytes = 100, .live_bytes = 250};
  EXPECT_EQ(PartOf(sample, "live"), 250);
  EXPECT_EQ(PartOf(sample, "not_resident"), -150);
  EXPECT_EQ(PartOf(sample, "unexplained"), 0);
}

TEST(MemoryRecord, SplitsTheAllocatorsPagesByWhatItSays) {
  MemorySample sample = {.rss_bytes = 1000, .anonymous_bytes = 1000, .live_bytes = 600};
  sample.allocator = {AllocatorProvider::kJemalloc, 5, 700, 50, 200, 20, {}};
  EXPECT_EQ(PartOf(sample, "rounding"), 100);
  EXPECT_EQ(PartOf(sample, "thread_caches"), 50);
  EXPECT_EQ(PartOf(sample, "free"), 200);
  EXPECT_EQ(PartOf(sample, "metadata"), 20);
  EXPECT_EQ(PartOf(sample, "allocator_other"), 30);
}

TEST(MemoryRecord, HasOnePartForWhatAnAllocatorDoesNotTell) {
  MemorySample sample = {.rss_bytes = 1000, .anonymous_bytes = 1000, .live_bytes = 600};
  sample.allocator = {AllocatorProvider::kGlibc, 5, {}, {}, {}, {}, 600};
  EXPECT_EQ(PartOf(sample, "rounding"), 0);
  EXPECT_EQ(PartOf(sample, "free"), 0);
  EXPECT_EQ(PartOf(sample, "allocator_other"), 400);
  EXPECT_EQ(SumOf(PartsOf(sample)), 1000);
}

TEST(MemoryRecord, TakesRoundingOfWhatWasLiveWhenTheAllocatorSaidIt) {
  // 500 of 600 live bytes were freed since.
  MemorySample sample = {.rss_bytes = 1000, .anonymous_bytes = 1000, .live_bytes = 100};
  sample.allocator = {AllocatorProvider::kJemalloc, 5, 700, 50, 200, 20, 600};
  EXPECT_EQ(PartOf(sample, "rounding"), 100);
  EXPECT_EQ(PartOf(sample, "allocator_other"), 530);
}

TEST(MemoryRecord, TakesTheFirstOfEqualHighests) {
  MemoryRecord record;
  EXPECT_EQ(HighestOf(record), nullptr);
  record.samples = {{.time_ms = 1, .rss_bytes = 5},
                    {.time_ms = 2, .rss_bytes = 9},
                    {.time_ms = 3, .rss_bytes = 9}};
  EXPECT_EQ(HighestOf(record)->time_ms, 2u);
}

}  // namespace
}  // namespace memprof

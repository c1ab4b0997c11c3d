#include "core/symbolizer/range_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace memprof {
namespace {

std::vector<int> At(const RangeIndex<int>& index, uint64_t address) {
  std::vector<int> found;
  index.Covering(address, [&](int value) {
    found.push_back(value);
    return false;
  });
  return found;
}

TEST(RangeIndex, VisitsTheRangeThatBeginsLastFirst) {
  RangeIndex<int> index;
  index.Add(10, 100, 1);
  index.Add(20, 30, 2);
  index.Sort();
  EXPECT_EQ(At(index, 25), (std::vector{2, 1}));
  EXPECT_EQ(At(index, 30), (std::vector{1}));
}

TEST(RangeIndex, ContainsTheBeginningOfARangeAndNotItsEnd) {
  RangeIndex<int> index;
  index.Add(10, 20, 1);
  index.Add(30, 30, 2);
  index.Sort();
  EXPECT_TRUE(At(index, 9).empty());
  EXPECT_EQ(At(index, 10), (std::vector{1}));
  EXPECT_EQ(At(index, 19), (std::vector{1}));
  EXPECT_TRUE(At(index, 20).empty());
  EXPECT_TRUE(At(index, 30).empty());
  EXPECT_EQ(index.size(), 1u);
}

TEST(RangeIndex, StopsWhenVisitSaysSo) {
  RangeIndex<int> index;
  index.Add(0, 100, 1);
  index.Add(1, 100, 2);
  index.Sort();
  int visits = 0;
  EXPECT_TRUE(index.Covering(50, [&](int) { return ++visits == 1; }));
  EXPECT_EQ(visits, 1);
  EXPECT_FALSE(index.Covering(50, [](int) { return false; }));
}

TEST(RangeIndex, FindsWhatASearchOfAllRangesFinds) {
  std::mt19937 random(1);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  RangeIndex<int> index;
  for (int i = 0; i < 300; ++i) {
    const uint64_t low = random() % 1000;
    ranges.emplace_back(low, low + random() % 100);
    index.Add(ranges.back().first, ranges.back().second, i);
  }
  index.Sort();
  for (uint64_t address = 0; address < 1200; ++address) {
    std::vector<int> expected;
    for (int i = 0; i < 300; ++i) {
      const auto& [low, high] = ranges[static_cast<size_t>(i)];
      if (low <= address && address < high) expected.push_back(i);
    }
    std::vector<int> found = At(index, address);
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected) << address;
  }
}

}  // namespace
}  // namespace memprof

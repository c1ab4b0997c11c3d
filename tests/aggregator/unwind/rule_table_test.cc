#include "aggregator/unwind/rule_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace memprof::test {
namespace {

// A rule that tells which pc it was made for, as far as its bits go.
FrameRule RuleFor(uintptr_t pc) {
  return FrameRule((((pc * 0x9e3779b97f4a7c15u) >> 40) & ((1u << 21) - 1)) << 8 | 1u);
}

TEST(RuleTable, FindsWhatWasInserted) {
  auto table = std::make_unique<RuleTable>();
  for (uintptr_t pc = 0x401000; pc < 0x401000 + 4000 * 7; pc += 7) table->Insert(pc, RuleFor(pc));
  for (uintptr_t pc = 0x401000; pc < 0x401000 + 4000 * 7; pc += 7) {
    ASSERT_EQ(table->Find(pc).bits(), RuleFor(pc).bits());
  }
  EXPECT_TRUE(table->Find(0x401001).IsNone());
}

TEST(RuleTable, NeverAnswersForAnotherPc) {
  auto table = std::make_unique<RuleTable>();
  const uintptr_t pc = 0x7f12'3456'789b;
  table->Insert(pc, RuleFor(pc));
  for (unsigned bit = 0; bit < 47; ++bit) {
    EXPECT_TRUE(table->Find(pc ^ (uintptr_t{1} << bit)).IsNone()) << bit;
    for (unsigned other = 0; other < bit; ++other) {
      EXPECT_TRUE(table->Find(pc ^ (uintptr_t{1} << bit) ^ (uintptr_t{1} << other)).IsNone());
    }
  }
}

TEST(RuleTable, KeepsTheEightNewestOfALine) {
  auto table = std::make_unique<RuleTable>();
  const auto nth = [](uintptr_t i) { return 0x400000 + (i << 28); };  // bits 28 and up: one line
  for (uintptr_t i = 0; i < 12; ++i) table->Insert(nth(i), RuleFor(nth(i)));
  for (uintptr_t i = 0; i < 12; ++i) EXPECT_EQ(table->Find(nth(i)).IsNone(), i < 4) << i;
}

TEST(RuleTable, ForgetsEverything) {
  auto table = std::make_unique<RuleTable>();
  for (uintptr_t pc = 1; pc < 100'000; pc += 3) table->Insert(pc, RuleFor(pc));
  table->Clear();
  for (uintptr_t pc = 1; pc < 100'000; pc += 3) ASSERT_TRUE(table->Find(pc).IsNone());
}

TEST(RuleTable, NeverGivesAWrongRuleToRacingThreads) {
  auto table = std::make_unique<RuleTable>();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&table, t] {
      uint32_t state = t + 1;
      for (int i = 0; i < 50'000; ++i) {
        state = state * 1664525u + 1013904223u;
        const uintptr_t pc = 0x400000 + ((state >> 8) % 4096) * 0x10000001u % 0x7fff'0000'0000u;
        const FrameRule rule = table->Find(pc);
        if (rule.IsNone()) {
          table->Insert(pc, RuleFor(pc));
        } else {
          ASSERT_EQ(rule.bits(), RuleFor(pc).bits());
        }
        if (i % 10'000 == 9'999) table->Clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace memprof::test

#include "cli/web/page_functions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

constexpr size_t kMuch = 1u << 30;

PageFunctions FunctionsOf(const Profile& profile, size_t max_bytes = kMuch,
                          size_t max_rows = 1000) {
  const MergedTree merged = MergeTree(profile);
  const PageTree tree = MakePageTree(profile, merged, {});
  return MakePageFunctions(profile, merged, MakePageRows(profile, tree, max_rows), max_bytes);
}

// "load 5, main 2": peak bytes by function, in the order of names, threads after a slash.
std::string Text(const PageFunctions& page, const std::vector<FunctionRow>& rows) {
  std::vector<std::string> parts;
  for (const FunctionRow& row : rows) {
    if (row.peak.bytes == 0) continue;
    parts.push_back(fmt::format("{}{} {}", page.functions[row.function].function,
                                row.thread == 0 ? "" : fmt::format("/{}", row.thread),
                                row.peak.bytes));
  }
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

Figures Sum(const std::vector<FunctionRow>& rows) {
  Figures sum;
  for (const FunctionRow& row : rows) AddFigures(sum, row);
  return sum;
}

const TestFrame kMain{"main", "m.cc", 1}, kLoad{"load", "l.cc", 2}, kParse{"parse", "p.cc", 3};
const TestFrame kMalloc{"malloc", "", 0, "/lib/x86_64-linux-gnu/libc.so.6"};

TEST(PageFunctions, CountsTheFunctionThatCalledTheAllocatorAndTheOneThatIsNoSystemCode) {
  ProfileBuilder b("p");
  b.Site({kMain, kLoad, kParse, kMalloc}, {.peak = {5, 1}});
  b.Site({kMain, kLoad, kParse}, {.peak = {2, 1}});
  const PageFunctions page = FunctionsOf(b.profile());
  EXPECT_EQ(Text(page, page.self), "malloc 5, parse 2");
  EXPECT_EQ(Text(page, page.located), "parse 7");
  EXPECT_EQ(Text(page, page.inclusive), "load 7, main 7, malloc 5, parse 7");
}

TEST(PageFunctions, CountsAStackOnceForAFunctionThatCallsItself) {
  ProfileBuilder b("p");
  b.Site({kMain, kParse, kLoad, kParse, kParse}, {.peak = {8, 1}});
  b.Site({kMain, kParse}, {.peak = {1, 1}});
  const PageFunctions page = FunctionsOf(b.profile());
  EXPECT_EQ(Text(page, page.inclusive), "load 8, main 9, parse 9");
}

TEST(PageFunctions, CountsTheLinesOfAFunctionTogetherAndItsFilesApart) {
  ProfileBuilder b("p");
  b.Site({{"main", "m.cc", 1}, {"init", "a.cc", 1}}, {.peak = {1, 1}});
  b.Site({{"main", "m.cc", 2}, {"init", "a.cc", 9}}, {.peak = {2, 1}});
  b.Site({{"main", "m.cc", 2}, {"init", "b.cc", 1}}, {.peak = {4, 1}});
  const PageFunctions page = FunctionsOf(b.profile());
  EXPECT_EQ(Text(page, page.self), "init 3, init 4");
}

TEST(PageFunctions, KeepsThreadsApart) {
  ProfileBuilder b("p");
  b.Site({kMain, kLoad}, {.peak = {5, 1}});
  b.Site({kMain, kLoad}, {.peak = {2, 1}, .thread = "worker"});
  b.Site({kMain, kParse}, {.peak = {1, 1}, .thread = "worker"});
  const PageFunctions page = FunctionsOf(b.profile());
  EXPECT_EQ(Text(page, page.self), "load 5, load/1 2, parse/1 1");
  EXPECT_EQ(Text(page, page.inclusive), "load 5, load/1 2, main 5, main/1 3, parse/1 1");
}

TEST(PageFunctions, CountsWhatTheRuntimeKeepsInItsRow) {
  ProfileBuilder b("p");
  b.Site({kMain, kLoad}, {.peak = {72704, 1}, .runtime_reason = "emergency pool"});
  b.Site({kMain, kLoad}, {.peak = {10, 1}});
  const PageFunctions page = FunctionsOf(b.profile());
  EXPECT_EQ(Text(page, page.self), "[runtime, kept by design] 72704, load 10");
  EXPECT_EQ(Text(page, page.located), Text(page, page.self));
  EXPECT_EQ(Text(page, page.inclusive), "[runtime, kept by design] 72704, load 72714, main 72714");
}

TEST(PageFunctions, HasARowForStacksWithoutAFrameOfTheProgram) {
  ProfileBuilder b("p");
  b.Site({kMalloc}, {.peak = {3, 1}});
  b.Site({}, {.peak = {4, 1}});
  const PageFunctions page = FunctionsOf(b.profile());
  EXPECT_EQ(Text(page, page.self), "[system frames] 4, malloc 3");
  EXPECT_EQ(Text(page, page.located), "[system frames] 7");
}

TEST(PageFunctions, SumsToTheTotalsIfFunctionsDoNotFit) {
  ProfileBuilder b("p");
  for (uint32_t i = 0; i < 100; ++i) {
    b.Site({kMain, {fmt::format("f{}", i), "f.cc", 1}},
           {{1 + i, 1}, {i, 1}, {1000 + i, 2}, nullptr, i % 2 == 0 ? "main" : "worker"});
  }
  const Profile& profile = b.profile();
  for (const size_t bytes : {0u, 500u, 3000u}) {
    const PageFunctions page = FunctionsOf(profile, bytes);
    EXPECT_GT(page.others, 0u);
    for (const auto* rows : {&page.self, &page.located}) {
      const Figures sum = Sum(*rows);
      EXPECT_EQ(sum.peak, profile.peak);
      EXPECT_EQ(sum.leaked, profile.leaked);
      EXPECT_EQ(sum.total, profile.total);
    }
    EXPECT_EQ(page.functions.back().function, kOtherFunctions);
    EXPECT_EQ(page.functions.size() - 1 + page.others, 101u);
  }
  const PageFunctions page = FunctionsOf(profile, 3000);
  EXPECT_EQ(page.functions[0].function, "main");
  EXPECT_EQ(page.functions[1].function, "f99");
  EXPECT_EQ(FunctionsOf(profile).others, 0u);
}

TEST(PageFunctions, TakesAProfileOfNothing) {
  ProfileBuilder b("p");
  EXPECT_TRUE(FunctionsOf(b.profile()).functions.empty());
}

}  // namespace
}  // namespace memprof

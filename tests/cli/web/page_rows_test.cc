#include "cli/web/page_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

const TestFrame kMain{"main", "m.cc", 1};

// "thread:node=bytes at the peak" of each row.
std::string Shape(const PageTree& tree, const PageRows& page) {
  std::string text;
  for (const PageRow& row : page.rows) {
    text += fmt::format("{}{}:{}={}", text.empty() ? "" : " ", page.threads[row.thread],
                        tree.frames[tree.nodes[row.node].frame].function, row.peak.bytes);
  }
  return text;
}

TEST(PageRows, KeepsTheThreadsOfANodeApart) {
  ProfileBuilder b("p");
  b.Site({kMain, {"load", "", 0}}, {.peak = {100, 1}, .thread = "main"});
  b.Site({kMain, {"load", "", 0}}, {.peak = {30, 1}, .thread = "worker"});
  b.Site({kMain}, {.peak = {5, 1}, .thread = "worker"});
  const PageTree tree = TreeOf(b.profile());
  EXPECT_EQ(Shape(tree, MakePageRows(b.profile(), tree, 100)),
            "worker:main=5 main:load=100 worker:load=30");
}

TEST(PageRows, AddsUpTheSitesOfOneThreadAtOneNode) {
  ProfileBuilder b("p");
  b.Site({{"main", "m.cc", 1}}, {.peak = {100, 1}, .leaked = {1, 1}});
  b.Site({{"main", "m.cc", 2}}, {.peak = {7, 2}, .leaked = {2, 1}});
  const PageTree tree = TreeOf(b.profile());
  const PageRows page = MakePageRows(b.profile(), tree, 100);
  ASSERT_EQ(page.rows.size(), 1u);
  EXPECT_EQ(page.rows[0].peak, (Count{107, 3}));
  EXPECT_EQ(page.rows[0].leaked, (Count{3, 2}));
}

TEST(PageRows, ShowsTheSmallestThreadsTogetherWhereThereAreTooMany) {
  ProfileBuilder b("p");
  for (uint64_t i = 0; i < 64; ++i) {
    for (const char* place : {"load", "serve"}) {
      b.Site({kMain, {place, "", 0}},
             {.peak = {1 + i, 1}, .total = {2 + i, 1}, .thread = fmt::format("t{}", i)});
    }
  }
  const PageTree tree = TreeOf(b.profile());
  const PageRows page = MakePageRows(b.profile(), tree, 20);
  EXPECT_LE(page.rows.size(), 20u);
  ASSERT_EQ(page.threads.size(), 9u);
  EXPECT_EQ(page.threads.front(), "t63");
  EXPECT_EQ(page.threads.back(), kOtherThreads);
  Count peak, total;
  for (const PageRow& row : page.rows) {
    peak += row.peak;
    total += row.total;
  }
  EXPECT_EQ(peak, b.profile().peak);
  EXPECT_EQ(total, b.profile().total);
}

TEST(PageRows, NamesNoThreadThatAllocatedNothing) {
  ProfileBuilder b("p");
  b.Site({kMain}, {.peak = {1, 1}, .thread = "worker"});
  const PageTree tree = TreeOf(b.profile());
  EXPECT_EQ(MakePageRows(b.profile(), tree, 100).threads, std::vector<std::string>{"worker"});
}

TEST(PageRows, SumToTheFiguresOfAPrunedTree) {
  ProfileBuilder b("p");
  for (uint64_t i = 0; i < 200; ++i) {
    b.Site({kMain, {fmt::format("f{}", i), "", 0}},
           {.peak = {1 + i, 1}, .thread = i % 3 == 0 ? "a" : "b"});
  }
  const PageTree tree = TreeOf(b.profile(), {.max_nodes = 20, .max_bytes = 1u << 20});
  const PageRows page = MakePageRows(b.profile(), tree, 100);
  std::vector<Count> sums(tree.nodes.size());
  for (const PageRow& row : page.rows) sums[row.node] += row.peak;
  for (size_t i = 0; i < tree.nodes.size(); ++i) EXPECT_EQ(sums[i], tree.nodes[i].peak) << i;
}

}  // namespace
}  // namespace memprof

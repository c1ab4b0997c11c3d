#include "cli/web/page_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

// The sums over a tree, and its shape as text: "main(load[100]) " with the peak's own bytes.
PageNode Sum(const PageTree& tree) {
  PageNode sum;
  for (const PageNode& node : tree.nodes) {
    sum.peak += node.peak;
    sum.leaked += node.leaked;
    sum.total += node.total;
  }
  return sum;
}

std::string Shape(const PageTree& tree, uint32_t at = 0) {
  std::string text = at == 0 ? "" : tree.frames[tree.nodes[at].frame].function;
  if (tree.nodes[at].peak.bytes > 0) text += fmt::format("={}", tree.nodes[at].peak.bytes);
  std::string below;
  for (uint32_t i = at + 1; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].parent == at) below += (below.empty() ? "" : " ") + Shape(tree, i);
  }
  return below.empty() ? text : text + "(" + below + ")";
}

uint32_t Find(const PageTree& tree, const std::string& function) {
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    if (tree.frames[tree.nodes[i].frame].function == function) return i;
  }
  return 0;
}

// A tree of `width` functions, each with `width` callees of rising weight.
Profile Wide(uint32_t width) {
  ProfileBuilder b("wide");
  for (uint32_t i = 0; i < width; ++i) {
    for (uint32_t j = 0; j < width; ++j) {
      const uint64_t bytes = 1 + i * 100 + j;
      b.Site(
          {{"main", "m.cc", 1}, {fmt::format("f{}", i), "f.cc", 2}, {fmt::format("g{}", j), "", 0}},
          {{bytes, 1}, {j == 0 ? bytes : 0, j == 0 ? 1u : 0u}, {bytes * 7, 3}});
    }
  }
  return b.profile();
}

TEST(PageTree, MergesCallsOfOneFunctionFromDifferentLines) {
  ProfileBuilder b("p");
  b.Site({{"main", "m.cc", 10}, {"load", "l.cc", 5}}, {.peak = {100, 1}});
  b.Site({{"main", "m.cc", 40}, {"load", "l.cc", 5}}, {.peak = {30, 2}});
  const PageTree tree = TreeOf(b.profile());
  EXPECT_EQ(Shape(tree), "(main(load=130))");
  EXPECT_EQ(tree.frames[tree.nodes[Find(tree, "main")].frame].lines, "10, 40");
  EXPECT_EQ(tree.frames[tree.nodes[Find(tree, "load")].frame].lines, "5");
}

TEST(PageTree, KeepsFunctionsOfOneNameInTwoFilesOrModulesApart) {
  ProfileBuilder b("p");
  b.Site({{"init", "a.c", 1}}, {.peak = {1, 1}});
  b.Site({{"init", "b.c", 1}}, {.peak = {2, 1}});
  b.Site({{"init", "a.c", 1, "/lib/libother.so"}}, {.peak = {4, 1}});
  EXPECT_EQ(Shape(TreeOf(b.profile())), "(init=1 init=2 init=4)");
}

TEST(PageTree, CountsTheLinesItDoesNotList) {
  ProfileBuilder b("p");
  for (uint32_t line = 1; line <= 12; ++line) b.Site({{"main", "m.cc", line}}, {.peak = {1, 1}});
  const PageTree tree = TreeOf(b.profile());
  EXPECT_EQ(tree.frames[tree.nodes[1].frame].lines, "1, 2, 3, 4, 5, 6, 7, 8, … (12 lines)");
}

TEST(PageTree, CallsAFrameInlinedOnlyIfItAlwaysIs) {
  ProfileBuilder b("p");
  b.Site({{"main", "m.cc", 1}, {"f", "f.cc", 1, "/opt/demo/bin/demo", true}}, {.peak = {1, 1}});
  b.Site({{"main", "m.cc", 2}, {"f", "f.cc", 2, "/opt/demo/bin/demo", false}}, {.peak = {1, 1}});
  b.Site({{"main", "m.cc", 2}, {"g", "f.cc", 9, "/opt/demo/bin/demo", true}}, {.peak = {1, 1}});
  const PageTree tree = TreeOf(b.profile());
  EXPECT_FALSE(tree.frames[tree.nodes[Find(tree, "f")].frame].inlined);
  EXPECT_TRUE(tree.frames[tree.nodes[Find(tree, "g")].frame].inlined);
}

TEST(PageTree, PutsWhatTheRuntimeKeepsUnderOneRowWithItsReason) {
  ProfileBuilder b("p");
  const TestFrame start{"_start", "", 0};
  b.Site({start, {"pool", "", 0}}, {.peak = {72704, 1}, .runtime_reason = "emergency pool"});
  b.Site({start, {"main", "m.cc", 1}}, {.peak = {10, 1}});
  b.Site({start, {"buf", "", 0}}, {.peak = {1024, 1}, .runtime_reason = "stdio buffer"});
  b.Site({start, {"pool", "", 0}}, {.peak = {6, 1}, .runtime_reason = "emergency pool"});
  EXPECT_EQ(Shape(TreeOf(b.profile())),
            "([runtime, kept by design](emergency pool(_start(pool=72710)) "
            "stdio buffer(_start(buf=1024))) _start(main=10))");
}

TEST(PageTree, SumsToTheTotalsWhateverIsPruned) {
  const Profile profile = Wide(40);
  for (size_t limit : {2u, 3u, 4u, 7u, 50u, 100u, 1000u, 1640u, 1641u, 1642u, 5000u}) {
    const PageTree tree = TreeOf(profile, {.max_nodes = limit, .max_bytes = 1u << 30});
    EXPECT_LE(tree.nodes.size(), limit);
    const PageNode sum = Sum(tree);
    EXPECT_EQ(sum.peak, profile.peak) << limit;
    EXPECT_EQ(sum.leaked, profile.leaked) << limit;
    EXPECT_EQ(sum.total, profile.total) << limit;
    for (size_t i = 1; i < tree.nodes.size(); ++i) EXPECT_LT(tree.nodes[i].parent, i);
  }
}

TEST(PageTree, PrunesNothingThatFits) {
  // root, main, 40 functions, 1,600 callees
  const PageTree fits = TreeOf(Wide(40), {.max_nodes = 1642, .max_bytes = 1u << 30});
  EXPECT_EQ(fits.nodes.size(), 1642u);
  EXPECT_EQ(fits.pruned_nodes, 0u);
  EXPECT_EQ(Find(fits, kPrunedRow), 0u);
}

TEST(PageTree, CountsWhatItPruned) {
  const PageTree tree = TreeOf(Wide(40), {.max_nodes = 500, .max_bytes = 1u << 30});
  const auto rows = static_cast<uint64_t>(std::count_if(
      tree.nodes.begin() + 1, tree.nodes.end(),
      [&](const PageNode& node) { return tree.frames[node.frame].function == kPrunedRow; }));
  EXPECT_GT(rows, 0u);
  EXPECT_EQ(tree.nodes.size() - rows + tree.pruned_nodes, 1642u);
}

TEST(PageTree, KeepsWhatIsMostOfTheLeakThoughLittleOfThePeak) {
  ProfileBuilder b("p");
  for (uint32_t i = 0; i < 100; ++i) {
    b.Site({{"main", "m.cc", 1}, {fmt::format("busy{}", i), "", 0}}, {.peak = {100'000, 10}});
  }
  b.Site({{"main", "m.cc", 1}, {"leaky", "l.cc", 7}}, {.peak = {8, 1}, .leaked = {8, 1}});
  const PageTree tree = TreeOf(b.profile(), {.max_nodes = 10, .max_bytes = 1u << 20});
  EXPECT_NE(Find(tree, "leaky"), 0u);
}

TEST(PageTree, StaysBelowItsBytesWithEnormousNames) {
  ProfileBuilder b("p");
  for (uint32_t i = 0; i < 300; ++i) {
    b.Site({{"main", "m.cc", 1}, {fmt::format("f{}_{}", i, std::string(10'000, 'x')), "", 0}},
           {.peak = {1, 1}});
  }
  const PageTree tree = TreeOf(b.profile(), {.max_nodes = 50'000, .max_bytes = 1'000'000});
  size_t bytes = 0;
  for (const PageFrame& frame : tree.frames) bytes += frame.function.size();
  EXPECT_LT(bytes, 1'000'000u);
  EXPECT_GT(tree.nodes.size(), 10u);
  EXPECT_EQ(Sum(tree).peak, b.profile().peak);
}

TEST(PageTree, CutsANameOfMegabytesBetweenCharacters) {
  std::string name = "x";
  while (name.size() < 3'000'000) name += "ü";
  ProfileBuilder b("p");
  b.Site({{name, "", 0}}, {.peak = {1, 1}});
  const PageTree tree = TreeOf(b.profile());
  const std::string& cut = tree.frames[0].function;
  EXPECT_LT(cut.size(), 40'000u);
  EXPECT_NE(cut.find("ü… ["), std::string::npos);
  EXPECT_TRUE(cut.ends_with(" bytes cut]"));
}

TEST(PageTree, TakesAProfileOfNothing) {
  ProfileBuilder b("p");
  EXPECT_EQ(TreeOf(b.profile()).nodes.size(), 1u);
}

}  // namespace
}  // namespace memprof

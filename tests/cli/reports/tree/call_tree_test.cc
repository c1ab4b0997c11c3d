#include "cli/reports/tree/call_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

TestFrame Named(const char* function) { return {function, "", 0}; }

// "total(main(Load))", the shown nodes only, in order.
std::string Shape(const CallTree& tree, uint32_t node = 0) {
  std::string text = tree.NameOf(tree.nodes()[node]).function;
  std::string children;
  for (const uint32_t child : tree.nodes()[node].children) {
    if (tree.nodes()[child].shown) {
      children += (children.empty() ? "" : " ") + Shape(tree, child);
    }
  }
  return children.empty() ? text : text + "(" + children + ")";
}

TEST(CallTree, HasTheSumOfItsChildrenAndItsOwnInEveryNode) {
  for (const bool all_frames : {false, true}) {
    const CallTree tree(ReportProfile(), {.all_frames = all_frames});
    EXPECT_EQ(tree.nodes()[0].figure, (Count{2000, 18}));
    for (const CallTreeNode& node : tree.nodes()) {
      Count sum = node.own;
      for (const uint32_t child : node.children) sum += tree.nodes()[child].figure;
      EXPECT_EQ(sum, node.figure) << tree.NameOf(node).function;
    }
  }
}

TEST(CallTree, FoldsTheSystemsFramesUnlessAskedForThem) {
  const Profile profile = ReportProfile();
  EXPECT_EQ(Shape(CallTree(profile, {.figure = Figure::kLeaked})),
            std::string("total(main(Load) main ") + kRuntimeRow + ")");
  EXPECT_EQ(Shape(CallTree(profile,
                           {.figure = Figure::kLeaked, .show_runtime = true, .all_frames = true})),
            "total(__libc_start_main(main(Load(std::vector<char>::reserve(unsigned long)"
            "(operator new(unsigned long)))) main) _dl_init(call_init))");
}

TEST(CallTree, KeepsTheInnermostFrameOfAStackThatIsAllSystem) {
  EXPECT_EQ(Shape(CallTree(ReportProfile(), {.figure = Figure::kLeaked, .show_runtime = true})),
            "total(main(Load) main call_init)");
}

TEST(CallTree, ShowsTheHeaviestFirstAndNoNodeWithoutItsCaller) {
  ProfileBuilder b("demo");
  b.Site({Named("a"), Named("deep"), Named("deeper")}, {{60, 1}, {}, {60, 1}});
  b.Site({Named("a"), Named("light")}, {{10, 9}, {}, {10, 9}});
  b.Site({Named("b")}, {{30, 5}, {}, {900, 5}});
  const Profile& profile = b.profile();
  EXPECT_EQ(Shape(CallTree(profile, {.rows = 1})), "total(a)");
  EXPECT_EQ(Shape(CallTree(profile, {.rows = 3})), "total(a(deep(deeper)))");
  EXPECT_EQ(Shape(CallTree(profile, {.rows = 4})), "total(a(deep(deeper)) b)");
  EXPECT_EQ(Shape(CallTree(profile, {.rows = 0})), "total(a(deep(deeper) light) b)");
  EXPECT_EQ(Shape(CallTree(profile, {.rows = 2, .sort = SortKey::kAllocations})),
            "total(a(light))");
  EXPECT_EQ(Shape(CallTree(profile, {.rows = 1, .sort = SortKey::kTotal})), "total(b)");
  EXPECT_EQ(Shape(CallTree(profile, {.sort = SortKey::kFunction})),
            "total(a(deep(deeper) light) b)");
}

TEST(CallTree, KeepsCallsFromDifferentLinesApart) {
  const CallTree tree(ReportProfile(), {});
  // main's lines 10, 11 and 12 and the runtime's row; line 13 has nothing at the peak.
  EXPECT_EQ(tree.nodes()[0].children.size(), 4u);
}

TEST(CallTree, BottomUpHasCallersBelowAndTheSameSums) {
  ProfileBuilder b("demo");
  b.Site({{"main", "m.cc", 1}, {"Load", "l.cc", 2}, {"Grow", "g.cc", 3}}, {{600, 6}, {}, {}});
  b.Site({{"main", "m.cc", 1}, {"Serve", "s.cc", 4}, {"Grow", "g.cc", 3}}, {{300, 3}, {}, {}});
  b.Site({{"Grow", "g.cc", 3}}, {{100, 1}, {}, {}});
  const CallTree tree(b.profile(), {.bottom_up = true});
  const CallTreeNode& root = tree.nodes()[0];
  ASSERT_EQ(root.children.size(), 1u);
  const CallTreeNode& grow = tree.nodes()[root.children[0]];
  EXPECT_EQ(tree.NameOf(grow).function, "Grow");
  EXPECT_EQ(grow.figure, (Count{1000, 10}));
  const auto lines = tree.LinesBelow(grow);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(tree.NameOf(tree.nodes()[lines[0].node]).function, "Load");
  EXPECT_EQ(lines[0].figure, (Count{600, 6}));
  EXPECT_EQ(lines[2].label, "[no caller]");
  EXPECT_EQ(lines[2].figure, (Count{100, 1}));
}

TEST(CallTree, FoldsAFunctionThatCallsItself) {
  ProfileBuilder b("demo");
  const TestFrame main{"main", "m.cc", 1}, parse{"Parse", "p.cc", 5}, deepest{"Parse", "p.cc", 9};
  b.Site({main, parse, parse, deepest, {"Node", "n.cc", 2}}, {{100, 1}, {}, {}});
  b.Site({main, parse, parse, parse, parse, deepest, {"Node", "n.cc", 2}}, {{10, 1}, {}, {}});
  b.Site({main, deepest}, {{1, 1}, {}, {}});
  for (const bool bottom_up : {false, true}) {
    const CallTree tree(b.profile(), {.bottom_up = bottom_up});
    std::vector<std::string> labels;
    for (const CallTreeNode& node : tree.nodes()) labels.push_back(tree.LabelOf(node));
    EXPECT_EQ(std::count(labels.begin(), labels.end(), "Parse ×5"), 1) << bottom_up;
    EXPECT_EQ(tree.nodes()[0].figure, (Count{111, 3}));
    // Nothing of a recursion's own call is lost: each node is the sum of its children and its own.
    for (const CallTreeNode& node : tree.nodes()) {
      Count sum = node.own;
      for (const uint32_t child : node.children) sum += tree.nodes()[child].figure;
      EXPECT_EQ(sum, node.figure);
    }
  }
  const CallTree all(b.profile(), {.all_frames = true});
  for (const CallTreeNode& node : all.nodes()) EXPECT_EQ(node.calls, 1u);
}

}  // namespace
}  // namespace memprof

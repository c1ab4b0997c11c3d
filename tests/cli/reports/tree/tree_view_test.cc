#include "cli/reports/tree/tree_view.h"

#include <gtest/gtest.h>

#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

// main ─ Serve ─ Parse (600), Send (100); itself 50; start ─ Init (200).
TreeView View() {
  ProfileBuilder b("demo");
  b.Site({{"main", "m.cc", 1}, {"Serve", "s.cc", 2}, {"Parse", "p.cc", 3}}, {{600, 1}, {}, {}});
  b.Site({{"main", "m.cc", 1}, {"Serve", "s.cc", 2}, {"Send", "n.cc", 4}}, {{100, 9}, {}, {}});
  b.Site({{"main", "m.cc", 1}, {"Serve", "s.cc", 2}}, {{50, 2}, {}, {}});
  b.Site({{"start", "t.cc", 5}, {"Init", "i.cc", 6}}, {{200, 3}, {}, {}});
  return TreeView(CallTree(b.profile(), {}));
}

std::vector<std::string> Names(const TreeView& view) {
  std::vector<std::string> names;
  for (const TreeView::Line& line : view.lines()) {
    names.push_back(line.branch + view.NameOf(line).function);
  }
  return names;
}

using Strings = std::vector<std::string>;

TEST(TreeView, OpensAsFarAsThereIsOneWay) {
  TreeView view = View();
  EXPECT_EQ(Names(view), (Strings{"total", "├ main", "└ start"}));
  view.MoveBy(1);
  view.Toggle();
  EXPECT_EQ(Names(view), (Strings{"total", "├ main", "│ Serve", "│ ├ Parse", "│ ├ Send",
                                  "│ └ [itself]", "└ start"}));
  view.Toggle();
  EXPECT_EQ(Names(view).size(), 3u);
  EXPECT_EQ(view.cursor(), 1u);
}

TEST(TreeView, HasLinesThatSumToTheOneAbove) {
  TreeView view = View();
  view.ToggleSubtree();
  const auto& lines = view.lines();
  EXPECT_EQ(lines.size(), 8u);
  Count below_serve;
  for (const TreeView::Line& line : lines) {
    const CallTreeName above = view.tree().NameOf(view.tree().nodes()[line.parent]);
    if (above.function == "Serve") below_serve += line.figure;
  }
  EXPECT_EQ(below_serve, (Count{750, 12}));
}

TEST(TreeView, OpensAllThatIsClosedBelowAnOpenLineBeforeItClosesIt) {
  TreeView view = View();
  view.ToggleSubtree();
  EXPECT_EQ(view.lines().size(), 8u);
  view.ToggleSubtree();
  EXPECT_EQ(Names(view), Strings{"total"});
  view.Toggle();
  EXPECT_EQ(Names(view), (Strings{"total", "├ main", "└ start"}));
}

TEST(TreeView, FindsWhatIsClosedAndGoesRound) {
  TreeView view = View();
  ASSERT_TRUE(view.Find("SEND", TreeView::Match::kNext));
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "Send");
  ASSERT_TRUE(view.Find("i.cc", TreeView::Match::kNext));
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "Init");
  ASSERT_TRUE(view.Find("main", TreeView::Match::kNext));
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "main");
  ASSERT_TRUE(view.Find("init", TreeView::Match::kPrevious));
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "Init");
  EXPECT_FALSE(view.Find("nowhere", TreeView::Match::kNext));
  EXPECT_FALSE(view.Find("", TreeView::Match::kNext));
}

TEST(TreeView, FindsTheHeaviestWhereverTheCursorIs) {
  ProfileBuilder b("demo");
  b.Site({{"main", "m.cc", 1}, {"Read", "r.cc", 2}, {"Load", "l.cc", 3}}, {{10, 1}, {}, {}});
  b.Site({{"main", "m.cc", 1}, {"Play", "p.cc", 2}, {"Load", "l.cc", 3}}, {{90, 1}, {}, {}});
  b.Site({{"main", "m.cc", 1}, {"Play", "p.cc", 2}}, {{50, 1}, {}, {}});
  TreeView view(CallTree(b.profile(), {.sort = SortKey::kFunction}));
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(view.Find("load", TreeView::Match::kHeaviest));
    EXPECT_EQ(view.lines()[view.cursor()].figure, (Count{90, 1}));
  }
  // The outermost of equal ones.
  ASSERT_TRUE(view.Find(".cc", TreeView::Match::kHeaviest));
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "main");
  EXPECT_FALSE(view.Find("nowhere", TreeView::Match::kHeaviest));
}

TEST(TreeView, ShowsAnotherTree) {
  TreeView view = View();
  view.MoveBy(2);
  ProfileBuilder b("demo");
  b.Site({{"start", "t.cc", 5}, {"Init", "i.cc", 6}}, {{200, 3}, {}, {}});
  view.Show(CallTree(b.profile(), {.bottom_up = true}));
  EXPECT_EQ(Names(view), (Strings{"total", "Init", "start"}));
  EXPECT_EQ(view.cursor(), 0u);
}

TEST(TreeView, KeepsTheCursorAtItsNodeWhenSorted) {
  TreeView view = View();
  view.Find("Send", TreeView::Match::kNext);
  view.SortBy(SortKey::kAllocations);
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "Send");
  EXPECT_EQ(Names(view)[3], "│ ├ Send");
}

TEST(TreeView, ClosesTowardsTheRootAndStaysOnALine) {
  TreeView view = View();
  view.Find("Send", TreeView::Match::kNext);
  view.Close();
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "Serve");
  view.Close();
  view.Close();
  view.Close();
  view.Close();
  view.Close();
  EXPECT_EQ(view.cursor(), 0u);
  view.MoveBy(-5);
  EXPECT_EQ(view.cursor(), 0u);
  view.MoveTo(1000);
  EXPECT_EQ(view.cursor(), view.lines().size() - 1);
  TreeView empty(CallTree(ProfileBuilder("demo").profile(), {}));
  empty.Toggle();
  empty.Open();
  empty.Close();
  EXPECT_EQ(empty.lines().size(), 1u);
}

// "[itself]" goes away with its node; the cursor stays on what was around it.
TEST(TreeView, MovesTheCursorUpWhereItsLineIsGone) {
  TreeView view = View();
  view.MoveBy(1);
  view.Toggle();
  view.MoveTo(5);
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "[itself]");
  view.SortBy(SortKey::kFunction);
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "[itself]");
  view.Close();
  EXPECT_EQ(view.NameOf(view.lines()[view.cursor()]).function, "Serve");
}

}  // namespace
}  // namespace memprof

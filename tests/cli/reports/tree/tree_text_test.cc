#include "cli/reports/tree/tree_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

TEST(Tree, DrawsCallersAboveCallees) {
  ProfileBuilder b("demo");
  b.Site({{"main", "m.cc", 1}, {"Load", "l.cc", 2}, {"Read", "r.cc", 3}}, {{600, 6}, {}, {}});
  b.Site({{"main", "m.cc", 1}, {"Load", "l.cc", 2}}, {{50, 1}, {}, {}});
  b.Site({{"main", "m.cc", 1}, {"Parse", "p.cc", 4}}, {{300, 3}, {}, {}});
  b.Site({{"worker", "w.cc", 5}}, {{50, 2}, {}, {}});
  EXPECT_EQ(TreeText(b.profile(), {}, {80, false}),
            "     bytes  share     blocks  function\n"
            "    1000 B 100.0%         12  total\n"
            "     950 B  95.0%         10  ├ main  m.cc:1\n"
            "     650 B  65.0%          7  │ ├ Load  l.cc:2\n"
            "     600 B  60.0%          6  │ │ ├ Read  r.cc:3\n"
            "      50 B   5.0%          1  │ │ └ [itself]\n"
            "     300 B  30.0%          3  │ └ Parse  p.cc:4\n"
            "      50 B   5.0%          2  └ worker  w.cc:5\n");
  EXPECT_EQ(TreeText(b.profile(), {.rows = 2}, {80, false}),
            "     bytes  share     blocks  function\n"
            "    1000 B 100.0%         12  total\n"
            "     950 B  95.0%         10  ├ main  m.cc:1\n"
            "     650 B  65.0%          7  │ ├ Load  l.cc:2\n"
            "      50 B   5.0%          1  │ │ ├ [itself]\n"
            "     600 B  60.0%          6  │ │ └ [1 more]\n"
            "     300 B  30.0%          3  │ └ [1 more]\n"
            "      50 B   5.0%          2  └ [1 more]\n");
}

TEST(Tree, HasTheStandardErrorOfEstimates) {
  EXPECT_EQ(TreeText(EstimatedProfile(), {.rows = 3}, {80, false}),
            "sampled: one block per 64 B on average; figures are estimates ± one standard\n"
            "         error\n"
            "\n"
            "          ≈ bytes  share   ≈ blocks  function\n"
            "    2.0 ± 0.2 KiB 100.0%         18  total\n"
            "     1000 ± 161 B  50.0%         10  ├ main  main.cc:10\n"
            "     1000 ± 161 B  50.0%         10  │ Load  load.cc:20\n"
            "      500 ± 114 B  25.0%          5  ├ main  main.cc:11\n"
            "      500 ± 114 B  25.0%          5  │ [1 more]\n"
            "       500 ± 78 B  25.0%          3  └ [2 more]\n");
}

TEST(Tree, DrawsAChainStraightDown) {
  ProfileBuilder b("demo");
  b.Site({{"main", "m.cc", 1}, {"f", "f.cc", 2}, {"g", "g.cc", 3}}, {{10, 1}, {}, {}});
  EXPECT_EQ(TreeText(b.profile(), {}, {80, false}),
            "     bytes  share     blocks  function\n"
            "      10 B 100.0%          1  total\n"
            "      10 B 100.0%          1  main  m.cc:1\n"
            "      10 B 100.0%          1  f  f.cc:2\n"
            "      10 B 100.0%          1  g  g.cc:3\n");
}

// Every level branches, so that every level is indented.
TEST(Tree, NeverExceedsTheWidthHoweverDeepAndLongNamed) {
  ProfileBuilder b("demo");
  std::vector<TestFrame> stack;
  for (int i = 0; i < 300; ++i) {
    stack.push_back({std::string(200, 'n') + std::to_string(i), std::string(100, 'f'), 1});
    b.Site(stack, {{10, 1}, {}, {}});
  }
  for (const size_t width : {80u, 200u}) {
    std::istringstream lines(TreeText(b.profile(), {}, {width, false}));
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(Columns(line), width) << line;
    }
    EXPECT_EQ(count, 2 + 300 + 299u);  // the heading, the total, the frames, what is their own
  }
}

TEST(Tree, ColoursOnlyWhenTold) {
  EXPECT_EQ(TreeText(ReportProfile(), {}, {80, false}).find('\x1b'), std::string::npos);
  EXPECT_NE(TreeText(ReportProfile(), {}, {80, true}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace memprof

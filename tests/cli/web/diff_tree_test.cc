#include "cli/web/diff_tree.h"

#include <gtest/gtest.h>

#include "cli/reports/difference/diff_page.h"
#include "cli/web/page_tree.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

// `lines`: added to every line, as by a change of the source.
Profile Wide(uint32_t functions, uint32_t lines, uint64_t bytes) {
  ProfileBuilder b("demo");
  for (uint32_t i = 0; i < functions; ++i) {
    b.Site({{"main", "m.cc", 1 + lines},
            {"f" + std::to_string(i % 100), "f.cc", 5 + lines},
            {"g" + std::to_string(i), "g.cc", 9 + lines}},
           {{bytes + i, 1}, {i, 1}, {2 * (bytes + i), 2}});
  }
  b.Site({{"pool", "", 0}}, {{64, 1}, {64, 1}, {64, 1}, "pool"});
  return b.profile();
}

void ExpectSums(const DiffTree& tree, const Profile& before, const Profile& after) {
  Figures old, now;
  for (const DiffTreeNode& node : tree.nodes) {
    for (const auto& [sum, side] : {std::pair(&old, &node.before), {&now, &node.after}}) {
      sum->peak += side->peak;
      sum->leaked += side->leaked;
      sum->total += side->total;
    }
  }
  EXPECT_EQ(old.peak, before.peak);
  EXPECT_EQ(old.leaked, before.leaked);
  EXPECT_EQ(old.total, before.total);
  EXPECT_EQ(now.peak, after.peak);
  EXPECT_EQ(now.leaked, after.leaked);
  EXPECT_EQ(now.total, after.total);
}

TEST(DiffTree, JoinsStacksOfOtherLinesAndSumsToBoth) {
  const Profile before = Wide(300, 0, 100);
  const Profile after = Wide(310, 7, 120);
  const DiffTree tree = MakeDiffTree(before, after);
  EXPECT_EQ(tree.pruned_nodes, 0u);
  EXPECT_EQ(tree.nodes.size(), 1 + 1 + 100 + 310 + 1u);  // root, main, f, g, kept by design
  ExpectSums(tree, before, after);
}

TEST(DiffTree, FoldsTheLeastImportantAndKeepsEveryByte) {
  Profile before = Wide(5000, 0, 100);
  Profile after = Wide(5000, 7, 100);
  after.sites[17].peak.bytes += 1'000'000;  // of g17
  after.peak.bytes += 1'000'000;
  const DiffTree tree = MakeDiffTree(before, after, 500);
  EXPECT_LE(tree.nodes.size(), 500u);
  EXPECT_GT(tree.pruned_nodes, 4000u);
  ExpectSums(tree, before, after);
  bool kept = false;
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    EXPECT_LT(tree.nodes[i].parent, i);
    kept = kept || tree.frames[tree.nodes[i].frame].function == "g17";
  }
  EXPECT_TRUE(kept);
}

TEST(DiffPage, CanNotEndItsElementAndFoldsRows) {
  ProfileBuilder b("</script>");
  b.Site({{"<!--<script>", "<b>", 1}}, {.peak = {1, 1}});
  const Profile hostile = b.profile();
  const Profile wide = Wide(300, 0, 100);
  const std::string data =
      DiffPageData({"<i>", &hostile}, {"b", &wide}, {.max_rows = 10, .max_nodes = 100});
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_NE(data.find("\"name\":\"others\",\"rows\":"), std::string::npos);
  const std::string page = MakeDiffPage({"a", &wide}, {"b", &wide}, {});
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_EQ(page.find("{{"), std::string::npos);
}

}  // namespace
}  // namespace memprof

#include "cli/scope_stacks/scope_stacks_input.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

std::string Input(const std::string& modules, const std::string& stacks,
                  const std::string& schema = "1") {
  return R"({"schema":)" + schema +
         R"(,"unit":"blocks","leaks":true,"except":"testing::","except_library":"libgtest",)" +
         R"("modules":[)" + modules + R"(],"stacks":[)" + stacks + "]}";
}

TEST(ScopeStacksInput, SharesWhatStacksHaveInCommon) {
  const auto input =
      ReadScopeStacks(Input(R"({"path":"/x/test","build_id":"ab"})",
                            R"({"bytes":10,"blocks":1,"frames":[[0,30],[0,20]]},)"
                            R"({"bytes":-7,"blocks":-2,"frames":[[-1,99],[0,20]]})"));
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_TRUE(input->by_blocks);
  EXPECT_TRUE(input->leaks);
  EXPECT_EQ(input->except, "testing::");
  const Snapshot& snapshot = input->snapshot;
  EXPECT_EQ(snapshot.modules, (std::vector<SnapshotModule>{{"/x/test", "ab"}}));
  EXPECT_EQ(snapshot.nodes.size(), 4u);  // the root, 20, and below it 30 and 99
  ASSERT_EQ(snapshot.sites.size(), 2u);
  EXPECT_EQ(snapshot.nodes[snapshot.sites[0].node].parent,
            snapshot.nodes[snapshot.sites[1].node].parent);
  EXPECT_EQ(snapshot.frames[snapshot.nodes[snapshot.sites[1].node].frame].module, kNoModule);
  EXPECT_EQ(snapshot.sites[0].total, (Count{10, 1}));
  EXPECT_EQ(input->weights[1].bytes, -7);
  EXPECT_EQ(input->weights[1].blocks, -2);
}

TEST(ScopeStacksInput, OfAnotherVersionSaysSo) {
  const auto input = ReadScopeStacks(Input("", "", "2"));
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().kind, ErrorKind::kUnreadable);
  EXPECT_NE(input.error().message.find("schema 2"), std::string::npos) << input.error().message;
}

TEST(ScopeStacksInput, ThatMakesNoSenseIsRefusedInOneLine) {
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1"), Input("", R"({"bytes":1})"),
        Input("", R"({"bytes":1,"blocks":1,"frames":[[0,1]]})"),
        Input("", R"({"bytes":1,"blocks":1,"frames":[[]]})"),
        Input("", R"({"bytes":1,"blocks":1,"frames":7})"), Input("3", "")}) {
    const auto input = ReadScopeStacks(text);
    ASSERT_FALSE(input) << text;
    EXPECT_EQ(input.error().message.find('\n'), std::string::npos) << input.error().message;
  }
}

}  // namespace
}  // namespace memprof

#include "cli/scope_stacks/scope_stacks_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace memprof {
namespace {

// A profile whose stacks are lists of functions, innermost first, all in one module.
struct Stacks {
  ScopeStacksInput input;
  Profile profile;

  Stacks() {
    profile.nodes.push_back({});
    profile.modules.push_back({"/x/test", ""});
    input.except = "testing::";
  }

  Stacks& Add(int64_t bytes, int64_t blocks, std::vector<std::string> functions,
              const char* kept = nullptr) {
    uint32_t node = 0;
    for (auto at = functions.rbegin(); at != functions.rend(); ++at) {
      profile.frames.push_back({*at, "/src/lib/" + *at + ".cc", 7, 0, 0, false});
      profile.nodes.push_back({node, static_cast<uint32_t>(profile.frames.size() - 1)});
      node = static_cast<uint32_t>(profile.nodes.size() - 1);
    }
    ProfileSite site;
    site.node = node;
    site.runtime_reason = kept;
    profile.sites.push_back(site);
    input.weights.push_back({bytes, blocks});
    return *this;
  }

  ScopeStacksReport Report() const { return ReportScopeStacks(input, profile); }
};

TEST(ScopeStacksText, IsOfTheProgramsFramesUpToTheTestsBody) {
  Stacks stacks;
  stacks.Add(2048, 2,
             {"operator new(unsigned long)", "std::vector<int>::reserve(unsigned long)", "Parse",
              "A_B_Test::TestBody()", "testing::Test::Run()", "main"});
  EXPECT_EQ(stacks.Report().text,
            "  2.0 KiB in 2 blocks\n"
            "    Parse                 lib/Parse.cc:7\n"
            "    A_B_Test::TestBody()  lib/A_B_Test::TestBody().cc:7\n");
}

TEST(ScopeStacksText, OfABlockThatOnlyGrewNamesNoBlocks) {
  Stacks stacks;
  stacks.Add(1, 0, {"Grow"});
  EXPECT_EQ(stacks.Report().text.find("  1 B\n    Grow "), 0u) << stacks.Report().text;
}

TEST(ScopeStacksText, IsOfTheThreeHeaviestAndTheSumOfTheOthers) {
  Stacks stacks;
  for (const int64_t bytes : {10, 50, 40, 30, 20, -5}) {
    stacks.Add(bytes, 1, {"F" + std::to_string(bytes)});
  }
  const std::string text = stacks.Report().text;
  EXPECT_NE(text.find("  50 B in 1 block, 34.5%\n    F50 "), std::string::npos) << text;
  EXPECT_LT(text.find("F50"), text.find("F40"));
  EXPECT_LT(text.find("F40"), text.find("F30"));
  EXPECT_EQ(text.find("F20"), std::string::npos) << text;
  EXPECT_NE(text.find("  25 B in 3 blocks at 3 other places\n"), std::string::npos) << text;
}

TEST(ScopeStacksText, AddsUpStacksThatLookAlike) {
  Stacks stacks;
  stacks.Add(10, 1, {"malloc", "F"}).Add(5, 1, {"F"});
  EXPECT_EQ(stacks.Report().text, "  15 B in 2 blocks\n    F  lib/F.cc:7\n");
}

TEST(ScopeStacksText, TakesWhatAFunctionFreedFromWhatItAllocated) {
  Stacks stacks;
  stacks.input.net = stacks.input.leaks = true;
  stacks.Add(100, 1, {"malloc", "Put", "Warm"}).Add(-90, -1, {"malloc", "Put", "Test"});
  stacks.Add(50, 1, {"Same", "A"}).Add(-50, -1, {"Same", "B"}).Add(-7, -1, {"Freed"});
  const ScopeStacksReport report = stacks.Report();
  EXPECT_EQ(report.leaked.bytes, 10);
  EXPECT_EQ(report.leaked.blocks, 0);
  EXPECT_EQ(report.text,
            "  100 B in 1 block\n"
            "    Put   lib/Put.cc:7\n"
            "    Warm  lib/Warm.cc:7\n"
            "  less 90 B in 1 block that these functions had before\n");
}

TEST(ScopeStacksText, IsShortForDeepStacks) {
  Stacks stacks;
  std::vector<std::string> deep;
  for (int i = 0; i < 500; ++i) deep.push_back("Recurse" + std::string(300, 'x'));
  stacks.Add(10, 1, deep);
  const std::string text = stacks.Report().text;
  EXPECT_NE(text.find("    … 492 more frames\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_LT(text.size(), 1200u);
}

TEST(ScopeStacksText, LeavesOutWhatTheTestFrameworkAllocatesForItself) {
  Stacks stacks;
  stacks.Add(10, 1, {"std::string::assign()", "testing::TestProperty::TestProperty()", "main"});
  stacks.Add(20, 2, {"Callback", "testing::internal::Handle()", "main"});
  const ScopeStacksReport report = stacks.Report();
  EXPECT_EQ(report.excepted.bytes, 10);
  EXPECT_EQ(report.excepted.blocks, 1);
  EXPECT_NE(report.text.find("20 B in 2 blocks\n    Callback"), std::string::npos) << report.text;
  EXPECT_EQ(report.text.find("TestProperty"), std::string::npos);
}

TEST(ScopeStacksText, LeavesOutWhatALibraryWithoutNamesAllocates) {
  Stacks stacks;
  stacks.profile.modules[0].path = "/usr/lib/libbenchmark.so.1.7.1";
  stacks.Add(10, 1, {"libbenchmark.so.1.7.1+0x12"});
  EXPECT_EQ(stacks.Report().excepted.bytes, 0);
  stacks.input.except_library = "libbench";
  EXPECT_EQ(stacks.Report().excepted.bytes, 0);
  stacks.input.except_library = "libbenchmark";
  EXPECT_EQ(stacks.Report().excepted.bytes, 10);
  EXPECT_EQ(stacks.Report().text, "");
}

TEST(ScopeStacksText, LeavesOutWhatRuntimesKeepOfLeaksAlone) {
  Stacks stacks;
  stacks.Add(10, 1, {"_IO_file_doallocate", "printf"}, "a buffer");
  EXPECT_EQ(stacks.Report().kept.bytes, 0);
  EXPECT_NE(stacks.Report().text, "");
  stacks.input.leaks = true;
  EXPECT_EQ(stacks.Report().kept.bytes, 10);
  EXPECT_EQ(stacks.Report().kept.blocks, 1);
  EXPECT_EQ(stacks.Report().text, "");
}

TEST(ScopeStacksText, OrdersByBlocksWhereBlocksAreLimited) {
  Stacks stacks;
  stacks.Add(1000, 1, {"Large"}).Add(10, 5, {"Many"});
  EXPECT_LT(stacks.Report().text.find("Large"), stacks.Report().text.find("Many"));
  stacks.input.by_blocks = true;
  EXPECT_LT(stacks.Report().text.find("Many"), stacks.Report().text.find("Large"));
}

}  // namespace
}  // namespace memprof

// The symbolizer's answers for calls whose functions, files and lines are known.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/symbolizer/symbolizer.h"
#include "tests/core/symbolizer/inlined_calls_program.h"

namespace memprof {
namespace {

const std::string kSource = SourcePath("inlined_calls.cc");

uint32_t Line(const std::string& what) { return LineOf("inlined_calls.cc", what); }

class SourceChains : public testing::TestWithParam<const char*> {
 protected:
  SourceChain Of(const std::string& label) {
    const std::vector<SnapshotModule> modules = {program_.Module()};
    const std::vector<SnapshotFrame> frames = {{0, program_.Offset(label)}};
    return symbolizer_->Resolve(modules, frames).at(0);
  }

  InlinedCalls program_{GetParam()};
  std::unique_ptr<Symbolizer> symbolizer_ = MakeSymbolizer();
};

INSTANTIATE_TEST_SUITE_P(Compilers, SourceChains,
                         testing::Values("gcc_dwarf5", "gcc_dwarf4", "gcc_dwarf4_split", "gcc_lto",
                                         "clang_dwarf4", "clang_dwarf5_split"),
                         [](const auto& build) { return std::string(build.param); });

TEST_P(SourceChains, BeginWithTheInnermostInlinedFunctionAndHaveTheLinesOfTheCalls) {
  const SourceChain chain = Of("inlined");
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_TRUE(chain[0].function.starts_with("void shop::Innermost<std::__cxx11::basic_string<"))
      << chain[0].function;
  EXPECT_EQ(chain[0].file, kSource);
  EXPECT_EQ(chain[0].line, Line("innermost"));
  EXPECT_TRUE(chain[0].inlined);
  EXPECT_EQ(chain[1], (SourceFrame{"shop::Middle(int)", kSource, Line("middle"), true}));
  EXPECT_EQ(chain[2], (SourceFrame{"shop::Outermost(int)", kSource, Line("outermost"), false}));
}

// gcc mangles no names of anonymous namespaces, so their parameters come from the debug info.
TEST_P(SourceChains, NameTheScopesOfFunctionsThatOnlyOneFileSees) {
  const SourceChain chain = Of("anonymous");
  ASSERT_EQ(chain.size(), 2u);
  const std::string till = "shop::(anonymous namespace)::Till::";
  EXPECT_EQ(chain[0].function, till + "Add()");
  EXPECT_EQ(chain[0].line, Line("add"));
  EXPECT_EQ(chain[1].function, till + "Count()");
  EXPECT_EQ(chain[1].line, Line("count"));
}

TEST_P(SourceChains, NameTheFunctionAroundALambda) {
  const SourceChain chain = Of("lambda");
  ASSERT_EQ(chain.size(), 1u);
  EXPECT_NE(chain[0].function.find("shop::Lambda(int)::"), std::string::npos) << chain[0].function;
  EXPECT_NE(chain[0].function.find("::operator()"), std::string::npos) << chain[0].function;
  EXPECT_EQ(chain[0].line, Line("lambda"));
}

TEST_P(SourceChains, NumberTheLambdasOfAFunction) {
  const SourceChain first = Of("first lambda");
  ASSERT_EQ(first.size(), 2u);
  const std::string lambda = "shop::TwoLambdas(int)::{lambda(char const*)#";
  EXPECT_EQ(first[0].function, lambda + "1}::operator()(char const*) const");
  EXPECT_EQ(first[1].function, "shop::TwoLambdas(int)");
  const SourceChain second = Of("second lambda");
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].function, lambda + "2}::operator()(char const*) const");
}

// So that rows of a build with gcc and of one with clang are the same.
TEST_P(SourceChains, GiveInlinedFunctionsOfOneFileTheirParameters) {
  const SourceChain chain = Of("internal template");
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].function,
            "long shop::(anonymous namespace)::OnlyHere<long>(long const&, unsigned long, "
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
            "const*)");
  EXPECT_EQ(chain[1].function, "shop::CallsATemplate(int)");
}

TEST_P(SourceChains, GiveFunctionsOfCNoScope) {
  EXPECT_EQ(Of("plain"), (SourceChain{{"plain_c", kSource, Line("plain"), false}}));
}

// With the debug info of the second file it would be ideas/second.h:202.
TEST_P(SourceChains, TakeAnInlineFunctionFromTheFileWhoseCodeTheLinkerKept) {
  const SourceChain chain = Of("in both files");
  ASSERT_EQ(chain.size(), 1u);
  EXPECT_EQ(chain[0].function, "InBothFiles()");
  EXPECT_EQ(std::filesystem::path(chain[0].file).filename(), "first.h");
  EXPECT_EQ(chain[0].line, 102u);
}

TEST_P(SourceChains, CompleteRelativeFileNames) {
  EXPECT_EQ(Of("in both files").at(0).file, INLINED_CALLS_PROGRAMS "/ideas/first.h");
}

TEST_P(SourceChains, GiveAssemblyTheNameOfItsSymbol) {
  EXPECT_EQ(Of("assembly"), (SourceChain{{"InAssembly", SourcePath("in_assembly.s"),
                                          LineOf("in_assembly.s", "assembly"), false}}));
}

TEST_P(SourceChains, GiveAssemblyWithoutASizeTheNameOfItsSymbol) {
  EXPECT_EQ(Of("unsized assembly"),
            (SourceChain{{"InUnsizedAssembly", SourcePath("in_assembly.s"),
                          LineOf("in_assembly.s", "unsized assembly"), false}}));
}

// The return address is outside of the function: the call is its last instruction.
TEST_P(SourceChains, AreOfTheCallAndNotOfWhatFollows) {
  EXPECT_EQ(Of("last"), (SourceChain{{"shop::LastInstruction()", kSource, Line("last"), false}}));
}

TEST_P(SourceChains, LeaveNoNoteWhenNothingLacks) {
  Of("inlined");
  EXPECT_TRUE(symbolizer_->notes().empty()) << symbolizer_->notes().front();
}

}  // namespace
}  // namespace memprof

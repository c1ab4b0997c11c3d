#include "cli/preflight/loader_command.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

LoaderCommand Read(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/lib64/ld-linux-x86-64.so.2");
  return ReadLoaderCommand(arguments);
}

TEST(LoaderCommand, StartsItsFirstWordThatIsNoOption) {
  EXPECT_EQ(Read({"./w", "--list"}).program, 1u);
  EXPECT_TRUE(Read({"./w", "--list"}).only.empty());
  EXPECT_EQ(Read({"--inhibit-cache", "./w"}).program, 2u);
}

TEST(LoaderCommand, KnowsWhichOptionsHaveAValue) {
  const LoaderCommand read =
      Read({"--library-path", "lib:lib64", "--argv0", "name", "--preload", "a.so", "./w", "x"});
  EXPECT_EQ(read.program, 7u);
  EXPECT_EQ(read.argv0, "name");
  EXPECT_EQ(read.options, (std::vector<std::string>{"--library-path", "lib:lib64", "--argv0",
                                                    "name", "--preload", "a.so"}));
  EXPECT_EQ(Read({"./w"}).argv0, "./w");
}

TEST(LoaderCommand, StartsNothingWhereItOnlyAnswers) {
  for (const char* only : {"--list", "--verify", "--help", "--version", "--list-tunables"}) {
    EXPECT_EQ(Read({only, "./w"}).only, only);
  }
  EXPECT_EQ(Read({}).program, 0u);
  EXPECT_EQ(Read({"--argv0"}).program, 0u);
  EXPECT_EQ(Read({"--library-path", "lib"}).program, 0u);
}

}  // namespace
}  // namespace memprof

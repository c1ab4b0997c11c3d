#include "cli/supervisor/tree/program_filter.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace memprof {
namespace {

TEST(ProgramFilter, TakesAllWithoutPatterns) { EXPECT_TRUE(ProgramFilter{}.Takes({"make"})); }

TEST(ProgramFilter, TakesOnlyWhatOneOfThePatternsNames) {
  const ProgramFilter filter = {{"cc1*", "ld"}, {}};
  EXPECT_TRUE(filter.Takes({"cc1plus"}));
  EXPECT_TRUE(filter.Takes({"ld"}));
  EXPECT_FALSE(filter.Takes({"ld.so"}));
  EXPECT_FALSE(filter.Takes({}));
}

TEST(ProgramFilter, LeavesOutWhatIsSkippedThoughItIsNamedToo) {
  const ProgramFilter filter = {{"*sh"}, {"dash"}};
  EXPECT_TRUE(filter.Takes({"bash"}));
  EXPECT_FALSE(filter.Takes({"dash"}));
}

TEST(ProgramFilter, KnowsAProgramByAnyOfItsNames) {
  const ProgramFilter filter = {{"sh"}, {}};
  EXPECT_TRUE(filter.Takes({"dash", "sh"}));
}

TEST(ProgramFilter, AsksTheKernelForTheNamesOfAProcess) {
  EXPECT_FALSE(ProgramNamesOf(getpid()).empty());
  EXPECT_TRUE(ProgramNamesOf(0).empty());
}

}  // namespace
}  // namespace memprof

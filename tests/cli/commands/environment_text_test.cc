#include "cli/commands/environment_text.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(EnvironmentText, KeepsWhatAShellPreloadsAlready) {
  EXPECT_EQ(EnvironmentText({{"LD_PRELOAD", "/lib/a.so"}, {"MEMPROF_OUTPUT", "/a b/x.%p"}},
                            EnvironmentFormat::kShell),
            "export LD_PRELOAD=/lib/a.so\"${LD_PRELOAD:+:$LD_PRELOAD}\"\n"
            "export MEMPROF_OUTPUT='/a b/x.%p'\n");
}

TEST(EnvironmentText, DoublesPercentSignsForSystemd) {
  EXPECT_EQ(EnvironmentText({{"MEMPROF_OUTPUT", "/a \"b\\/x.%p"}}, EnvironmentFormat::kSystemd),
            "Environment=\"MEMPROF_OUTPUT=/a \\\"b\\\\/x.%%p\"\n");
}

TEST(EnvironmentText, EscapesDollarSignsForADockerfile) {
  EXPECT_EQ(EnvironmentText({{"MEMPROF_OUTPUT", "/a $b/x.%p"}}, EnvironmentFormat::kDocker),
            "ENV MEMPROF_OUTPUT=\"/a \\$b/x.%p\"\n");
}

TEST(EnvironmentText, KnowsItsFormats) {
  EnvironmentFormat format = EnvironmentFormat::kShell;
  EXPECT_TRUE(ParseEnvironmentFormat("docker", format));
  EXPECT_EQ(format, EnvironmentFormat::kDocker);
  EXPECT_FALSE(ParseEnvironmentFormat("Docker", format));
  EXPECT_EQ(format, EnvironmentFormat::kDocker);
}

}  // namespace
}  // namespace memprof

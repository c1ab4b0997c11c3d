#include "cli/commands/options/named_moment_options.h"

#include <gtest/gtest.h>

#include <csignal>

namespace memprof {
namespace {

TEST(NamedMomentOptions, AreReadAsPeopleWriteThem) {
  const auto options = ReadNamedMomentFlags({"1h30m", "SIGUSR1", "4 GiB", "x-%s.memprof"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->schedule.every_ms, 5'400'000u);
  EXPECT_EQ(options->signal, SIGUSR1);
  EXPECT_EQ(options->schedule.at_rss_bytes, uint64_t{4} << 30);
  EXPECT_EQ(options->schedule.at_rss_name, "4GiB");
  EXPECT_EQ(ReadNamedMomentFlags({"0.5", "", "", ""})->schedule.every_ms, 500u);
  EXPECT_EQ(SignalNumber("USR2"), SIGUSR2);
  EXPECT_EQ(SignalNumber("10"), 10);
}

TEST(NamedMomentOptions, AreRefusedInOneLineWhereTheyAreNone) {
  for (const NamedMomentFlags& flags :
       {NamedMomentFlags{"0", "", "", ""}, NamedMomentFlags{"10ms", "", "", ""},
        NamedMomentFlags{"end", "", "", ""}, NamedMomentFlags{"", "KILL", "", ""},
        NamedMomentFlags{"", "CHLD", "", ""}, NamedMomentFlags{"", "FOO", "", ""},
        NamedMomentFlags{"", "0", "", ""}, NamedMomentFlags{"", "", "0", ""},
        NamedMomentFlags{"", "", "big", ""}, NamedMomentFlags{"", "", "", "x.memprof"},
        NamedMomentFlags{"", "", "", "x-%%s.memprof"}, NamedMomentFlags{"3651d", "", "", ""},
        NamedMomentFlags{"106752d", "", "", ""}}) {
    const auto options = ReadNamedMomentFlags(flags);
    ASSERT_FALSE(options) << flags.every << flags.signal << flags.at_rss << flags.files;
    EXPECT_EQ(options.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(options.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace memprof

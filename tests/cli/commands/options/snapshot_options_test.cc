#include "cli/commands/options/snapshot_options.h"

#include <gtest/gtest.h>

#include <csignal>

namespace memprof {
namespace {

TEST(SnapshotOptions, AreReadAsPeopleWriteThem) {
  const auto options = ReadSnapshotFlags({"1h30m", "SIGUSR1", "4 GiB", "x-%s.memprof"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->schedule.every_ms, 5'400'000u);
  EXPECT_EQ(options->signal, SIGUSR1);
  EXPECT_EQ(options->schedule.at_rss_bytes, uint64_t{4} << 30);
  EXPECT_EQ(options->schedule.at_rss_name, "4GiB");
  EXPECT_EQ(ReadSnapshotFlags({"0.5", "", "", ""})->schedule.every_ms, 500u);
  EXPECT_EQ(SignalNumber("USR2"), SIGUSR2);
  EXPECT_EQ(SignalNumber("10"), 10);
}

TEST(SnapshotOptions, AreRefusedInOneLineWhereTheyAreNone) {
  for (const SnapshotFlags& flags :
       {SnapshotFlags{"0", "", "", ""}, SnapshotFlags{"10ms", "", "", ""},
        SnapshotFlags{"end", "", "", ""}, SnapshotFlags{"", "KILL", "", ""},
        SnapshotFlags{"", "CHLD", "", ""}, SnapshotFlags{"", "FOO", "", ""},
        SnapshotFlags{"", "0", "", ""}, SnapshotFlags{"", "", "0", ""},
        SnapshotFlags{"", "", "big", ""}, SnapshotFlags{"", "", "", "x.memprof"},
        SnapshotFlags{"", "", "", "x-%%s.memprof"}, SnapshotFlags{"3651d", "", "", ""},
        SnapshotFlags{"106752d", "", "", ""}}) {
    const auto options = ReadSnapshotFlags(flags);
    ASSERT_FALSE(options) << flags.every << flags.signal << flags.at_rss << flags.files;
    EXPECT_EQ(options.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(options.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace memprof

#include "cli/reports/trust.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(Trust, HasNothingToSayOfAnExactProfile) {
  Profile profile;
  profile.tracker.incomplete_stacks = 3;  // their figures are exact
  profile.tracker.unknown_frees = 3;
  EXPECT_TRUE(TrustLines(profile).empty());
}

TEST(Trust, SaysEveryThingThatKeepsFiguresFromBeingExact) {
  Profile profile;
  profile.damage = {"the capture is damaged: section 'x'"};
  profile.tracker.stop_reason = static_cast<uint32_t>(StopReason::kNoMemory);
  profile.tracker.dropped_events = 1234;
  profile.tracker.tables_full_events = 5;
  profile.tracker.unnamed_frames = 6;
  profile.tracker.truncated_stacks = 6;
  profile.tracker.inexact_read = true;
  profile.tracker.peak_bound_bytes = 4096;
  profile.tracker.unattributed_bytes = 100;
  profile.tracker.fork_children = 2;
  const auto lines = TrustLines(profile);
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0], "the capture is damaged: section 'x'");
  EXPECT_NE(lines[1].find("gave it no memory"), std::string::npos);
  EXPECT_TRUE(lines[2].starts_with("1,234 events"));
  EXPECT_EQ(lines[7], "the peak is known to within 4.0 KiB (4,096 B)");
}

std::string Ended(EndKind kind, uint32_t code) {
  SnapshotProgram program;
  program.end_kind = kind;
  program.end_code = code;
  return EndText(program);
}

TEST(Trust, SaysHowTheProgramEnded) {
  EXPECT_EQ(Ended(EndKind::kExit, 3), "exited with 3");
  EXPECT_EQ(Ended(EndKind::kSignal, 9), "was ended by SIGKILL (9)");
  EXPECT_EQ(Ended(EndKind::kSignal, 40), "was ended by signal 40");  // of real time
  EXPECT_EQ(Ended(EndKind::kSignal, 0xffffffff), "was ended by signal 4294967295");
  EXPECT_EQ(Ended(EndKind::kRunning, 0), "was still running");
  EXPECT_EQ(Ended(EndKind::kExec, 0), "executed another program");
}

}  // namespace
}  // namespace memprof

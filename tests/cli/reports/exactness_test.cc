#include "cli/reports/exactness.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(ExactnessNotes, HasNothingToSayOfAnExactProfile) {
  Profile profile;
  profile.tracker.incomplete_stacks = 3;  // their figures are exact
  profile.tracker.unknown_frees = 3;
  EXPECT_TRUE(ExactnessNotes(profile).empty());
}

TEST(ExactnessNotes, SaysEveryThingThatKeepsFiguresFromBeingExact) {
  Profile profile;
  profile.damage = {"the capture is damaged: section 'x'"};
  profile.tracker.stop_reason = static_cast<uint32_t>(StopReason::kNoMemory);
  profile.tracker.dropped_events = 1234;
  profile.tracker.tables_full_events = 5;
  profile.tracker.unnamed_frames = 6;
  profile.tracker.unread_python = 6;
  profile.tracker.truncated_stacks = 6;
  profile.tracker.inexact_read = true;
  profile.tracker.peak_bound_bytes = 4096;
  profile.tracker.unattributed_bytes = 100;
  profile.tracker.fork_children = 2;
  const auto lines = ExactnessNotes(profile);
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines[0], "the capture is damaged: section 'x'");
  EXPECT_NE(lines[1].find("gave it no memory"), std::string::npos);
  EXPECT_TRUE(lines[2].starts_with("1,234 events"));
  EXPECT_TRUE(lines[5].starts_with("6 allocations have stacks without Python functions"));
  EXPECT_EQ(lines[8], "the peak is known to within 4.0 KiB (4,096 B)");
}

TEST(ExactnessNotes, SaysHowManySourcesOfAMergeHaveNoHistory) {
  Profile profile;
  profile.sources.resize(3);
  profile.sources[0].has_timeline = profile.sources[1].has_timeline = true;
  profile.sources[0].has_moments = true;
  const auto lines = ExactnessNotes(profile);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "1 of the merged captures has no timeline: it is not in the heap over time");
  EXPECT_EQ(lines[2], "2 of the merged captures have no history: they are not in the moments");
}

std::string Ended(EndKind kind, uint32_t code) {
  SnapshotProgram program;
  program.end_kind = kind;
  program.end_code = code;
  return EndText(program);
}

TEST(ExactnessNotes, SaysHowTheProgramEnded) {
  EXPECT_EQ(Ended(EndKind::kExit, 3), "exited with 3");
  EXPECT_EQ(Ended(EndKind::kSignal, 9), "was ended by SIGKILL (9)");
  EXPECT_EQ(Ended(EndKind::kSignal, 40), "was ended by signal 40");  // of real time
  EXPECT_EQ(Ended(EndKind::kSignal, 0xffffffff), "was ended by signal 4294967295");
  EXPECT_EQ(Ended(EndKind::kRunning, 0), "was still running");
  EXPECT_EQ(Ended(EndKind::kExec, 0), "executed another program");
}

}  // namespace
}  // namespace memprof

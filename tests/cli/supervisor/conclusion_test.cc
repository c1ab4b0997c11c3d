#include "cli/supervisor/conclusion.h"

#include <gtest/gtest.h>

#include <csignal>

#include "core/protocol/region_layout.h"

namespace memprof {
namespace {

RunOutcome Written(int code) {
  RunOutcome outcome;
  outcome.code = code;
  outcome.written.emplace();
  SnapshotSite site;
  site.peak = {2048, 3};
  site.leaked = {1024, 1};
  site.total = {4096, 1234};
  outcome.written->sites.push_back(site);
  return outcome;
}

TEST(Conclusion, TellsTheFiguresInOneLine) {
  const Conclusion conclusion = Conclude(Written(0), "x y.memprof", 512, "", false);
  EXPECT_EQ(conclusion.status, 0);
  ASSERT_EQ(conclusion.lines.size(), 1u);
  EXPECT_EQ(conclusion.lines[0],
            "peak 2.0 KiB, leaked 1.0 KiB in 1 allocation, 1,234 allocations in all; capture "
            "x y.memprof (512 B); see: memprof summary 'x y.memprof'");
}

TEST(Conclusion, TellsWhatOfTheLeaksIsTheRuntimes) {
  RunOutcome outcome = Written(0);
  outcome.leak_classes.kept_by_runtime = {1024, 1};
  EXPECT_NE(Conclude(outcome, "x", 512, "", false)
                .lines[0]
                .find("leaked 1.0 KiB in 1 allocation, all of it kept by design by the runtime, "),
            std::string::npos);
  outcome.written->sites[0].leaked = {2048, 2};
  EXPECT_NE(
      Conclude(outcome, "x", 512, "", false)
          .lines[0]
          .find("leaked 2.0 KiB in 2 allocations, 1.0 KiB of it kept by design by the runtime, "),
      std::string::npos);
}

TEST(Conclusion, MarksEstimates) {
  RunOutcome outcome = Written(0);
  outcome.written->tracker.sample_bytes = 4096;
  EXPECT_EQ(Conclude(outcome, "x", 512, "", false).lines[0],
            "sampled, one block per 4.0 KiB: peak ≈ 2.0 ± 2.7 KiB, leaked ≈ 1.0 ± 1.9 KiB, ≈ 1,234 "
            "± 1,081 allocations in all; capture x (512 B); see: memprof summary x");
}

TEST(Conclusion, SaysNothingIfQuietAndFine) {
  EXPECT_TRUE(Conclude(Written(0), "x", 512, "", true).lines.empty());
  EXPECT_TRUE(Conclude(Written(5), "x", 512, "", true).lines.empty());
}

TEST(Conclusion, HasTheProgramsStatus) {
  EXPECT_EQ(Conclude(Written(5), "x", 512, "", false).status, 5);
  RunOutcome killed = Written(SIGKILL);
  killed.signalled = true;
  const Conclusion conclusion = Conclude(killed, "x", 512, "", false);
  EXPECT_EQ(conclusion.status, 128 + SIGKILL);
  EXPECT_EQ(conclusion.lines[0], "the program was ended by SIGKILL");
}

TEST(Conclusion, FailsWhereNoTrackerConnected) {
  RunOutcome outcome;
  for (const bool quiet : {false, true}) {
    const Conclusion conclusion = Conclude(outcome, "x", 0, "", quiet);
    EXPECT_EQ(conclusion.status, 125);
    ASSERT_EQ(conclusion.lines.size(), 1u);
    EXPECT_NE(conclusion.lines[0].find("no tracker connected"), std::string::npos);
    EXPECT_NE(conclusion.lines[0].find("memprof's preload may be at fault"), std::string::npos);
  }
}

TEST(Conclusion, PutsTheProgramsFailureBeforeItsOwn) {
  RunOutcome outcome;
  outcome.code = 7;
  EXPECT_EQ(Conclude(outcome, "x", 0, "", false).status, 7);
  EXPECT_EQ(Conclude(outcome, "x", 0, "", false).lines.size(), 1u);
  EXPECT_EQ(Conclude(outcome, "x", 0, "", true).lines.size(),
            1u);  // a lost capture is never silent
}

TEST(Conclusion, NamesTheRegionWhereTheCaptureCouldNotBeWritten) {
  RunOutcome outcome;
  outcome.write_error = "x: No space left on device";
  const Conclusion conclusion = Conclude(outcome, "x", 0, "r.region", true);
  EXPECT_EQ(conclusion.status, 125);
  ASSERT_EQ(conclusion.lines.size(), 1u);
  EXPECT_NE(conclusion.lines[0].find("No space left"), std::string::npos);
  EXPECT_NE(conclusion.lines[0].find("memprof summary r.region"), std::string::npos);
}

TEST(Conclusion, SaysWhatStandsWhereTheLastCaptureCouldNotBeWritten) {
  RunOutcome outcome;
  outcome.write_error = "x: No space left on device";
  outcome.checkpoints = 2;
  const Conclusion conclusion = Conclude(outcome, "x", 512, "", true);
  EXPECT_NE(conclusion.lines[0].find("last checkpoint"), std::string::npos);
}

TEST(Conclusion, TakesATrackerThatNeverCountedForNone) {
  RunOutcome outcome = Written(0);
  outcome.written->sites.clear();
  outcome.written->tracker.stop_reason = static_cast<uint32_t>(StopReason::kNoMemory);
  EXPECT_EQ(Conclude(outcome, "x", 512, "", true).status, 125);
  outcome = Written(0);
  outcome.written->tracker.stop_reason = static_cast<uint32_t>(StopReason::kNoMemory);
  const Conclusion partial = Conclude(outcome, "x", 512, "", false);
  EXPECT_EQ(partial.status, 0);
  EXPECT_NE(partial.lines[0].find("end early"), std::string::npos);
}

TEST(Conclusion, TellsWhatWasNotSeen) {
  RunOutcome outcome = Written(0);
  outcome.descendants = 2;
  outcome.untracked_image = "env";
  outcome.written->tracker.fork_children = 1;
  outcome.written->tracker.dropped_events = 1000;
  const Conclusion conclusion = Conclude(outcome, "x", 512, "", false);
  ASSERT_EQ(conclusion.lines.size(), 4u);
  EXPECT_EQ(conclusion.lines[0], "1,000 events could not be counted");
  EXPECT_NE(conclusion.lines[1].find("where env executed another"), std::string::npos);
  EXPECT_EQ(conclusion.lines[2], "child processes are not profiled (3 seen)");
}

TEST(ShellWord, IsQuotedOnlyWhereTheShellNeedsIt) {
  EXPECT_EQ(ShellWord("a/b-1.memprof"), "a/b-1.memprof");
  EXPECT_EQ(ShellWord("a'b $x"), "'a'\\''b $x'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace memprof

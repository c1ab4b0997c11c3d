#include "cli/reports/summary_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

Profile Demo() {
  Profile profile = ReportProfile();
  profile.program.rss_peak_bytes = 4 << 20;
  profile.tracker.bytes = 200 << 10;
  return profile;
}

TEST(Summary, SaysWhatRanWhatItTookAndWhoLeaks) {
  EXPECT_EQ(SummaryText(Demo(), {Figure::kLeaked}, 1, {100, false}),
            "demo  exited with 0 after 1 min 23 s, pid 4711, started 2025-10-09T08:53:20.000Z\n"
            "/opt/demo/bin/demo --config /etc/demo.toml\n"
            "\n"
            "  peak    2.0 KiB (2,000 B) in 18 allocations, at 1 min 1 s (within 4 ms)\n"
            "  leaked  900 B in 7 allocations, 200 B of it kept by design by the runtime\n"
            "  total   12.8 KiB (13,100 B) in 66 allocations\n"
            "  RSS     4.0 MiB at its highest, the tracker's 200.0 KiB included\n"
            "  exact   every event was counted\n"
            "\n"
            "Never freed, by place\n"
            "leaked   share  blocks     total  function  place\n"
            " 400 B   44.4%       4     600 B  Load      load.cc:21\n"
            "                                    ← main\n"
            " 200 B   22.2%       2     200 B  [runtime, kept by design]\n"
            " 300 B   33.3%       1  12.0 KiB  others (3 places)\n"
            " 900 B  100.0%       7  12.8 KiB  total\n");
}

TEST(Summary, SaysHowMuchTheProgramMappedBesideTheHeap) {
  Profile profile = Demo();
  EXPECT_EQ(SummaryText(profile, {}, 5, {100, false}).find("  mapped"), std::string::npos);
  profile.mappings.followed = true;
  EXPECT_EQ(SummaryText(profile, {}, 5, {100, false}).find("  mapped"), std::string::npos);
  SnapshotMapping arenas, reserved;
  arenas.peak = {25 << 20, 26};
  reserved.peak = {1 << 30, 1};
  reserved.reserved = true;  // address space, in no total
  profile.mappings.rows = {arenas, reserved};
  EXPECT_NE(
      SummaryText(profile, {}, 5, {120, false})
          .find("  RSS     4.0 MiB at its highest, the tracker's 200.0 KiB included\n"
                "  mapped  25.0 MiB in 26 mappings at most, by the program itself and beside the "
                "heap; see memprof table --mmap\n"),
      std::string::npos);
}

TEST(Summary, QuotesTheArgumentsAsAShellWantsThem) {
  Profile profile = Demo();
  profile.program.command = {"sh", "-c", "a b; c", "", "it's"};
  EXPECT_NE(SummaryText(profile, {}, 5, {100, false}).find("\nsh -c 'a b; c' '' 'it'\\''s'\n"),
            std::string::npos);
}

TEST(Summary, DoesNotSayExactOfAProfileThatIsNot) {
  Profile profile = Demo();
  profile.tracker.dropped_events = 7;
  const std::string text = SummaryText(profile, {}, 5, {100, false});
  EXPECT_EQ(text.find("exact"), std::string::npos);
  EXPECT_NE(text.find("  note    7 events could not be counted"), std::string::npos);
}

std::string HeadLine(EndKind end, uint64_t duration_ms) {
  Profile profile = Demo();
  profile.program.end_kind = end;
  profile.program.duration_ms = duration_ms;
  const std::string text = SummaryText(profile, {}, 5, {100, false});
  return text.substr(0, text.find(", pid"));
}

TEST(Summary, SaysHowItEndedAsFarAsThatIsKnown) {
  EXPECT_EQ(HeadLine(EndKind::kEnded, 7), "demo  ended after 7 ms, exit status not known");
  EXPECT_EQ(HeadLine(EndKind::kEnded, 0), "demo  ended, exit status not known");
  EXPECT_EQ(HeadLine(EndKind::kExit, 0), "demo  exited with 0");
  EXPECT_EQ(HeadLine(EndKind::kRunning, 7), "demo  was still running after 7 ms");
}

TEST(Summary, SpeaksOfNoFileThatMayBeGone) {
  Profile profile = Demo();
  profile.tracker.bytes = 72 << 20;
  EXPECT_NE(SummaryText(profile, {}, 5, {100, false})
                .find("RSS     4.0 MiB at its highest; the tracker counted in a file of 72.0 MiB"),
            std::string::npos);
  profile.program.rss_peak_bytes = 0;
  EXPECT_NE(
      SummaryText(profile, {}, 5, {100, false}).find("RSS     not known; the tracker took 72.0"),
      std::string::npos);
}

TEST(Summary, SaysSoIfAllThatLeakedIsTheRuntimes) {
  Profile profile = Demo();
  for (ProfileSite& site : profile.sites) {
    if (site.runtime_reason == nullptr) site.leaked = {};
  }
  profile.leaked = SumKeptByRuntime(profile);
  EXPECT_NE(
      SummaryText(profile, {}, 5, {100, false})
          .find("  leaked  200 B in 2 allocations, all of it kept by design by the runtime\n"),
      std::string::npos);
}

Profile DemoOfProcesses() {
  using Kind = SnapshotProcess::Kind;
  Profile profile = Demo();
  for (uint32_t pid = 1; pid <= 3; ++pid) {
    SnapshotSource source;
    source.program.program = pid == 1 ? "server" : "worker";
    source.program.pid = pid;
    profile.sources.push_back(source);
  }
  profile.processes = {{{}, Kind::kSummed},
                       {{{300, 1}, {50, 1}, {600, 1}, {}}, Kind::kApart},
                       {{{1500, 10}, {800, 1}, {12000, 10}, {}}, Kind::kApart}};
  return profile;
}

TEST(Summary, SaysWhoseTheFiguresOfAMergeAre) {
  EXPECT_TRUE(SummaryText(DemoOfProcesses(), {}, 5, {100, false})
                  .ends_with("\nBy process, each with its own peak\n"
                             "   peak  leaked     total  process\n"
                             "1.5 KiB   800 B  11.7 KiB  worker (3)\n"
                             "  300 B    50 B     600 B  worker (2)\n"
                             "  200 B    50 B     500 B  other processes (1)\n"
                             "2.0 KiB   900 B  12.8 KiB  total\n"));
  Profile older = DemoOfProcesses();
  older.processes.clear();
  EXPECT_EQ(SummaryText(older, {}, 5, {100, false}).find("By process"), std::string::npos);
}

TEST(Summary, SaysOfWhichProcessesItIs) {
  Profile profile = Demo();
  profile.tracker.dropped_events = 7;
  profile.chosen_processes = {"work*, 4711", 1, 5, 2, 0, {2048, 9}, true};
  const std::string text = SummaryText(profile, {}, 5, {100, false});
  EXPECT_NE(text.find("  of      1 of 5, by --process work*, 4711\n  peak"), std::string::npos);
  EXPECT_NE(text.find("  note    2 more that it names are not in these figures: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("their peaks are 2.0 KiB"), std::string::npos) << text;
  EXPECT_NE(text.find("over time are of the whole merge"), std::string::npos) << text;
  // Facts that a merge has only for all its processes together are not stated for one of them.
  EXPECT_NE(text.find("note    not by process: 7 events could not be counted"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("the tracker's 200.0 KiB"), std::string::npos) << text;
}

TEST(Summary, SaysThatEstimatesAreEstimates) {
  Profile profile = EstimatedProfile();
  profile.program.rss_peak_bytes = 4 << 20;
  profile.tracker.peak_bound_bytes = 5;
  EXPECT_EQ(SummaryText(profile, {Figure::kLeaked}, 1, {80, false}),
            "demo  exited with 0 after 1 min 23 s, pid 4711, started 2025-10-09T08:53:20.000Z\n"
            "/opt/demo/bin/demo --config /etc/demo.toml\n"
            "\n"
            "  peak     ≈ 2.0 ± 0.2 KiB in ≈ 18 ± 3 allocations, at 1 min 1 s (within 4 ms)\n"
            "  leaked   ≈ 900 ± 128 B in ≈ 7 ± 2 allocations, ≈ 200 B of it kept by design by\n"
            "           the runtime\n"
            "  total    ≈ 12.8 ± 0.4 KiB in ≈ 66 ± 5 allocations\n"
            "  RSS      4.0 MiB at its highest, the tracker's 0 B included\n"
            "  sampled  one block per 64 B on average; figures are estimates ± one standard\n"
            "           error\n"
            "  note     the peak of the estimates, beside their error, is known to within 5 B\n"
            "\n"
            "Never freed, by place\n"
            "   ≈ leaked   share  ≈ blocks   ≈ total  function  place\n"
            "400 ± 102 B   44.4%         4     600 B  Load      load.cc:21\n"
            "                                           ← main\n"
            " 200 ± 72 B   22.2%         2     200 B  [runtime, kept by design]\n"
            " 300 ± 29 B   33.3%         1  12.0 KiB  others (3 places)\n"
            "900 ± 128 B  100.0%         7  12.8 KiB  total\n");
}

TEST(Summary, SaysNotKnownRatherThanZero) {
  Profile profile = Demo();
  profile.program.rss_peak_bytes = 0;
  profile.program.peak_time_resolution_ms = 0;
  const std::string text = SummaryText(profile, {}, 5, {100, false});
  EXPECT_NE(text.find("  RSS     not known"), std::string::npos);
  EXPECT_EQ(text.find(", at "), std::string::npos);
}

TEST(Summary, SaysOfModulesThatLackTheSameOnce) {
  Profile profile = Demo();
  profile.notes = {"a.so: no symbols; do x", "b.so: no file", "c.so: no symbols; do x", "odd"};
  const std::string text = SummaryText(profile, {}, 5, {100, false});
  EXPECT_TRUE(
      text.ends_with("\nsymbols: a.so, c.so: no symbols; do x\n"
                     "symbols: b.so: no file\n"
                     "symbols: odd\n"))
      << text;
}

TEST(Summary, StaysWithinEightyColumnsAndLetsNoNameDriveTheTerminal) {
  Profile profile = Demo();
  profile.program.program = "evil\x1b[2J" + std::string(100, 'p');
  profile.program.command = {"/evil\n", std::string(300, 'x')};
  profile.notes = {"lib\x1b[2Jx.so: no symbols",
                   std::string(50, 'a') + " " + std::string(50, 'b'),
                   "3",
                   "4",
                   "5",
                   "6"};
  profile.damage = {"section '\x1b'"};
  const std::string text = SummaryText(profile, {}, 5, {80, false});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);  // the program's name, which is not cut
  while (std::getline(lines, line)) EXPECT_LE(Columns(line), 80u) << line;
}

}  // namespace
}  // namespace memprof

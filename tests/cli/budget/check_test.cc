#include "cli/budget/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/budget/contributors_text.h"
#include "core/protocol/region_layout.h"
#include "formats/capture/capture_writer.h"
#include "tests/cli/budget/yardstick.h"

namespace memprof {
namespace {

TEST(Check, RowsBehindALimitSumToItsValue) {
  const Yardstick yardstick =
      YardstickOf("[budget]\npeak = 0\nleaked = 0\nallocations = 0\nallocated = 0");
  // More stacks than are listed.
  ProfileBuilder b("demo");
  for (uint32_t i = 1; i <= 30; ++i) {
    b.Site({{"main"}, {"f" + std::to_string(i)}}, {{i * 10, i}, {i, 1}, {i * 100, i * 2}});
  }
  const CheckReport report = ReportOn(yardstick, b.profile());
  for (const CheckItem& item : report.captures[0].items) {
    const LimitKind& kind = *item.limit->limit->kind;
    uint64_t sum = WeightOf(kind, item.contributors.others_after);
    for (const DiffRow& row : item.contributors.rows) sum += WeightOf(kind, row.after);
    EXPECT_EQ(static_cast<double>(sum), item.limit->value) << item.check;
    EXPECT_EQ(item.contributors.rows.size() + item.contributors.others, 30u);
    EXPECT_EQ(item.contributors.rows[0].function, "f30");
  }
}

TEST(Check, WithABaselineWhatGrewComesFirst) {
  ProfileBuilder before("demo"), now("demo");
  before.Site({{"main"}, {"Big"}}, {{9000, 9}, {}, {}});
  before.Site({{"main"}, {"Shrank"}}, {{5000, 9}, {}, {}});
  now.Site({{"main"}, {"Big"}}, {{9000, 9}, {}, {}});
  now.Site({{"main"}, {"Shrank"}}, {{1, 1}, {}, {}});
  now.Site({{"main"}, {"Regressed"}}, {{6000, 2}, {}, {}});
  Yardstick yardstick = YardstickOf("[budget]\npeak = \"+5%\"");
  yardstick.baselines = {before.profile()};
  const CheckReport report = ReportOn(yardstick, now.profile());
  const CheckItem& item = report.captures[0].items[0];
  EXPECT_EQ(item.standing, Standing::kOver);
  ASSERT_EQ(item.contributors.rows.size(), 3u);
  EXPECT_EQ(item.contributors.rows[0].function, "Regressed");
  EXPECT_EQ(item.contributors.rows[1].function, "Big");
  EXPECT_EQ(item.says,
            "14.6 KiB, 301 B (2.0%) over the limit of 14.4 KiB (+5% on the baseline's 13.7 KiB)");
  const std::string text = ContributorsText(item, true, 1, {80, false});
  EXPECT_NE(text.find("+5.9 KiB  Regressed"), std::string::npos) << text;
  EXPECT_NE(text.find("others (2 stacks)"), std::string::npos) << text;
}

TEST(Check, ARenamedFunctionIsComparedWithItsOldName) {
  ProfileBuilder before("demo"), now("demo");
  before.Site({{"main"}, {"Load"}}, {{9000, 9}, {}, {9000, 9}});
  now.Site({{"main"}, {"Read"}}, {{9100, 9}, {}, {9100, 9}});
  Yardstick yardstick = YardstickOf("[[budget.match]]\nfunction = \"Read\"\npeak = \"+5%\"");
  yardstick.baselines = {before.profile()};
  const CheckReport report = ReportOn(yardstick, now.profile());
  EXPECT_EQ(report.captures[0].items[0].standing, Standing::kWithin);
  const auto& notes = report.captures[0].notes;
  EXPECT_NE(std::find(notes.begin(), notes.end(),
                      "of the baseline: Load is now Read (paired by callers and size)"),
            notes.end());
}

Profile ProfileOfPeak(uint64_t bytes, int64_t day) {
  ProfileBuilder b("demo");
  b.Site({{"main"}, {"Read"}}, {{bytes, 1}, {}, {bytes, 1}});
  Profile profile = b.profile();
  profile.program.start_unix_ms = day * 86'400'000;
  return profile;
}

TEST(Check, SeveralBaselinesAreJudgedByTheirMedian) {
  Yardstick& yardstick = YardstickOf("[budget]\npeak = \"+5%\"");
  const auto item = [&](uint64_t now) {
    return CheckProfile(yardstick, "x.memprof", ProfileOfPeak(now, 9)).items[0];
  };
  // One that was low by chance decides nothing.
  yardstick.baselines = {ProfileOfPeak(100'000, 1), ProfileOfPeak(50'000, 2),
                         ProfileOfPeak(101'000, 3)};
  EXPECT_EQ(item(104'000).standing, Standing::kWithin);
  EXPECT_EQ(item(106'000).standing, Standing::kOver);
  EXPECT_EQ(item(106'000).limit->baseline, 100'000);
  // What rises by 4% a night is within the limit of every night before.
  yardstick.baselines = {ProfileOfPeak(100'000, 1), ProfileOfPeak(104'000, 2),
                         ProfileOfPeak(108'160, 3)};
  EXPECT_EQ(item(112'486).standing, Standing::kOver);
  const CaptureCheck check = CheckProfile(yardstick, "x.memprof", ProfileOfPeak(109'000, 4));
  EXPECT_EQ(check.items[0].standing, Standing::kWithin);
  EXPECT_NE(std::find(check.notes.begin(), check.notes.end(),
                      "the program: peak has risen in each of the last 3 runs, from 97.7 KiB to "
                      "106.4 KiB"),
            check.notes.end());
}

TEST(Check, GrowthIsListedByItsSlopes) {
  ProfileBuilder b("soak");
  b.Site({{"main"}, {"Table"}}, {{90'000'000, 1}, {90'000'000, 1}, {90'000'000, 1}});
  b.Site({{"main"}, {"Slow"}}, {{3'840'000, 9}, {3'840'000, 9}, {3'840'000, 9}});
  b.Site({{"main"}, {"Fast"}}, {{6'000'000, 9}, {6'000'000, 9}, {6'000'000, 9}});
  Profile profile = b.profile();
  profile.moments.interval_ms = 60'000;
  for (uint32_t i = 0; i < 64; ++i) {
    profile.moments.at.push_back({(i + 1) * uint64_t{60'000}, false});
    profile.sites[0].history = {{0, {90'000'000, 1}}};
    profile.sites[1].history.push_back({i, {uint64_t{10'000'000} + 60'000 * i, 1}});
    profile.sites[2].history.push_back({i, {uint64_t{90'000} * i + 90'000, 1}});
  }
  const CheckReport report =
      ReportOn(YardstickOf("[budget]\ngrowth_per_hour = \"1 MiB\""), profile);
  const CheckItem& item = report.captures[0].items[0];
  EXPECT_EQ(item.standing, Standing::kOver);
  ASSERT_EQ(item.contributors.rows.size(), 2u);
  EXPECT_EQ(item.contributors.rows[0].function, "Fast");
  EXPECT_EQ(item.contributors.rows[1].function, "Slow");
  double sum = 0;
  for (const DiffRow& row : item.contributors.rows)
    sum += static_cast<double>(row.after.leaked.bytes);
  EXPECT_NEAR(sum, item.limit->value, 2);
  EXPECT_NE(ContributorsText(item, false, 5, {80, false}).find("an hour"), std::string::npos);
}

TEST(Check, WhatIsLostIsListedByItsBytes) {
  Profile profile = ReportProfile();
  profile.inspection.looks = 2;
  profile.inspection.notes = {"one look only"};
  for (const auto& [site, bytes] : {std::pair(0u, 40u), std::pair(2u, 50u)}) {
    InspectedRow row{profile.sites[site].node, {}};
    row.figures.lost_indirectly = {bytes, 3};
    profile.inspection.rows.push_back(row);
  }
  const CheckReport report = ReportOn(YardstickOf("[budget]\nlost = 0"), profile);
  const CheckItem& item = report.captures[0].items[0];
  EXPECT_EQ(item.standing, Standing::kOver);
  EXPECT_EQ(item.limit->value, 90);
  ASSERT_EQ(item.contributors.rows.size(), 2u);
  EXPECT_EQ(item.contributors.rows[0].function, "main");
  EXPECT_EQ(item.contributors.rows[0].after.leaked, (Count{50, 3}));
  EXPECT_EQ(item.contributors.rows[0].after.peak, Count());
  EXPECT_EQ(item.contributors.rows[1].function, "Load");
  const auto& notes = report.captures[0].notes;
  EXPECT_NE(std::find(notes.begin(), notes.end(), "one look only"), notes.end());
}

TEST(Check, TellsToTheByteWhatLooksTheSame) {
  const CheckReport report =
      ReportOn(YardstickOf("[budget]\npeak = 1999\nallocated = 13099"), ReportProfile());
  EXPECT_EQ(report.captures[0].items[0].says,
            "2.0 KiB (2,000 B), 1 B (0.1%) over the limit of 2.0 KiB (1,999 B)");
  EXPECT_EQ(report.captures[0].items[1].says,
            "12.8 KiB (13,100 B), 1 B (0.0%) over the limit of 12.8 KiB (13,099 B)");
}

TEST(Check, AnExpiredSuppressionIsOverAndSaysSo) {
  const Yardstick yardstick = YardstickOf(
      "[budget]\npeak = 9999\n[[budget.suppress]]\nfunction = \"Nothing\"\nreason = \"ticket 7\"\n"
      "expires = 2026-11-20\n");
  const CheckReport report = ReportOn(yardstick, ReportProfile());
  EXPECT_TRUE(IsOver(report));
  const std::vector<OverItem> over = ItemsOver(report);
  ASSERT_EQ(over.size(), 1u);
  EXPECT_EQ(TitleOf(*over[0].item), "suppression of function Nothing");
  EXPECT_EQ(over[0].item->says, "expired after 2026-11-20 (ticket 7)");
  EXPECT_EQ(over[0].item->line, 3u);
}

TEST(Check, ARequiredMatchOfNothingIsOver) {
  const std::string match = "[[budget.match]]\nfunction = \"Lode\"\npeak = 0\n";
  const CheckReport lenient = ReportOn(YardstickOf(match), ReportProfile());
  EXPECT_FALSE(IsOver(lenient));
  const auto& notes = lenient.captures[0].notes;
  EXPECT_NE(std::find(notes.begin(), notes.end(), "nothing matches function Lode"), notes.end());
  EXPECT_TRUE(IsOver(ReportOn(YardstickOf(match + "required = true"), ReportProfile())));
}

TEST(Check, SaysThatALeakOfARunningProgramIsWhatWasLive) {
  Profile profile = ReportProfile();
  const Yardstick leaks = YardstickOf("[budget]\nleaked = 0");
  const auto notes = [&] { return CheckProfile(leaks, "x", profile).notes; };
  // Blocks kept by design are mentioned for every kind of end.
  const std::string kept = "200 B more is kept by design by the runtime, which is no leak";
  EXPECT_EQ(notes(), std::vector<std::string>{kept});
  profile.program.end_kind = EndKind::kRunning;
  ASSERT_EQ(notes().size(), 2u);
  EXPECT_EQ(notes()[1], kept);
  EXPECT_NE(notes()[0].find("was still running"), std::string::npos);
  profile.program.end_kind = EndKind::kSignal;
  profile.program.end_code = 9;
  EXPECT_NE(notes()[0].find("SIGKILL"), std::string::npos);
  EXPECT_TRUE(CheckProfile(YardstickOf("[budget]\npeak = 0"), "x", profile).notes.empty());
}

TEST(Check, SaysThatFiguresAreEstimates) {
  const CheckReport report = ReportOn(YardstickOf("[budget]\npeak = 1990"), EstimatedProfile());
  const CheckItem& item = report.captures[0].items[0];
  EXPECT_EQ(item.standing, Standing::kWithin);
  EXPECT_NE(item.says.find("not surely over the limit"), std::string::npos) << item.says;
  EXPECT_TRUE(item.says.starts_with("≈ ")) << item.says;
  EXPECT_EQ(report.captures[0].notes[0].rfind("sampled: ", 0), 0u);
}

TEST(Check, FingerprintsDoNotKnowLinesAddressesAndOrder) {
  const Yardstick yardstick = YardstickOf("[budget]\npeak = 0\nleaked = 0");
  Profile later = ReportProfile();
  for (ProfileFrame& frame : later.frames) {
    frame.line += 7;
    frame.offset += 4096;
    frame.file = "/elsewhere" + frame.file;
  }
  std::reverse(later.sites.begin(), later.sites.end());
  const CaptureCheck one = CheckProfile(yardstick, "a", ReportProfile());
  const CaptureCheck two = CheckProfile(yardstick, "b", later);
  ASSERT_EQ(one.items.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(one.items[i].fingerprint, two.items[i].fingerprint);
  EXPECT_NE(one.items[0].fingerprint, one.items[1].fingerprint);
}

TEST(Check, KnowsDays) {
  EXPECT_EQ(FormatDay(*ParseDay("2028-02-29")), "2028-02-29");
  for (const char* bad :
       {"", "2026-2-3", "2026-02-30", "20261231", "2026-13-01", "2026-01-0x", "2026-01-011"}) {
    EXPECT_FALSE(ParseDay(bad)) << bad;
  }
}

// A capture in a file, as the command reads it.
class CheckOfFile : public testing::Test {
 protected:
  CheckOfFile() {
    char name[] = "/tmp/memprof-check-XXXXXX";
    directory_ = mkdtemp(name);
    file_ = directory_ + "/x.memprof";
    std::ofstream(directory_ + "/memprof.toml") << "[budget]\npeak = 1000000\nleaked = 1000000\n";
    snapshot_.program.program = "demo";
    snapshot_.frames = {{kNoModule, kPcNoStack}};
    snapshot_.nodes = {{}, {0, 0}};
    snapshot_.thread_names = {"main"};
    snapshot_.sites = {{1, 0, {10, 1}, {20, 2}, {30, 3}}};
  }
  ~CheckOfFile() override { std::filesystem::remove_all(directory_); }

  CheckReport ReportOnBytes(const std::string& bytes) {
    std::ofstream(file_, std::ios::binary) << bytes;
    yardstick_ = *LoadYardstick(directory_ + "/memprof.toml", {}, {});
    return Check(yardstick_, {file_}, {});
  }
  Result<Yardstick> AsBaseline() {
    return LoadYardstick(directory_ + "/memprof.toml", {file_}, {});
  }

  std::string directory_, file_;
  Snapshot snapshot_;
  Yardstick yardstick_;
};

TEST_F(CheckOfFile, ACaptureThatMissedEventsGivesNoVerdict) {
  uint64_t allocations = 0;
  for (const SnapshotSite& site : snapshot_.sites) allocations += site.total.allocations;
  snapshot_.tracker.dropped_events = allocations / 1000;
  EXPECT_FALSE(IsUnreadable(ReportOnBytes(EncodeCapture(Canonical(snapshot_)))));
  ++snapshot_.tracker.dropped_events;
  const CheckReport missed = ReportOnBytes(EncodeCapture(Canonical(snapshot_)));
  EXPECT_TRUE(IsUnreadable(missed));
  EXPECT_NE(missed.captures[0].error.find("could not be counted"), std::string::npos);
}

TEST_F(CheckOfFile, ADamagedCaptureIsUnreadableAndNeverWithin) {
  std::string bytes = EncodeCapture(Canonical(snapshot_));
  const CheckReport whole = ReportOnBytes(bytes);
  EXPECT_FALSE(IsUnreadable(whole));
  EXPECT_FALSE(IsOver(whole));
  EXPECT_TRUE(AsBaseline().has_value());
  bytes.resize(bytes.size() - 1);
  const CheckReport damaged = ReportOnBytes(bytes);
  EXPECT_TRUE(IsUnreadable(damaged));
  EXPECT_TRUE(damaged.captures[0].items.empty());
  EXPECT_NE(damaged.captures[0].error.find(file_ + ": no verdict: the capture is damaged"),
            std::string::npos)
      << damaged.captures[0].error;
  const auto baseline = AsBaseline();
  ASSERT_FALSE(baseline.has_value());
  EXPECT_EQ(baseline.error().kind, ErrorKind::kUnreadable);
}

TEST_F(CheckOfFile, TheFiguresOfATrackerThatGaveUpAreNeverWithin) {
  snapshot_.tracker.stop_reason = static_cast<uint32_t>(StopReason::kNoMemory);
  const CheckReport report = ReportOnBytes(EncodeCapture(Canonical(snapshot_)));
  EXPECT_TRUE(IsUnreadable(report));
  const std::string& error = report.captures[0].error;
  EXPECT_NE(error.find("the tracker gave up"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_FALSE(AsBaseline().has_value());
}

}  // namespace
}  // namespace memprof

#include "core/budget/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "formats/budget_file.h"
#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::year_month_day kToday = 2026y / 11 / 21;

Budget BudgetOf(const std::string& text) {
  auto budget = ParseBudget(text, "b.toml");
  EXPECT_TRUE(budget) << budget.error().message;
  return *budget;
}

// The standing of the only limit.
LimitVerdict VerdictOn(const Budget& budget, const Profile& profile,
                       const Profile* baseline = nullptr) {
  const Judgement judgement = Judge(budget, profile, baseline, kToday);
  EXPECT_EQ(judgement.limits.size(), 1u);
  LimitVerdict verdict = judgement.limits[0];
  verdict.rule = nullptr;  // the budget may be gone
  verdict.limit = nullptr;
  return verdict;
}

LimitVerdict VerdictOn(const std::string& text, const Profile& profile,
                       const Profile* baseline = nullptr) {
  return VerdictOn(BudgetOf(text), profile, baseline);
}

Profile FullProfile() {
  Profile profile = ReportProfile();
  profile.program.rss_peak_bytes = 50000;
  profile.tracker.temporary_threshold = 1;
  profile.sites[0].temporary = {400, 4};
  profile.sites[2].temporary = {30, 3};
  profile.inspection.looks = 2;
  for (const uint32_t site : {1u, 2u, 4u}) {  // the last is kept by the runtime
    InspectedRow row{profile.sites[site].node, {}};
    row.figures.lost_directly = {100 * (site + 1), 1};
    row.figures.lost_indirectly = {7, 1};
    row.figures.reachable = {90, 9};
    profile.inspection.rows.push_back(row);
  }
  return profile;
}

struct Answer {
  const char* key;
  uint64_t program, match;  // of FullProfile and its function Load; 0: no such limit
};
// Load has: peak 1000 + 500, leaked 0 + 400, total 5000 + 600; the runtime keeps 200 of all.
constexpr Answer kAnswers[] = {
    {"peak", 2000, 1500},
    {"leaked", 700, 400},
    {"leaked_allocations", 5, 4},
    {"allocated", 13100, 5600},
    {"allocations", 66, 56},
    {"temporary", 430, 400},
    {"temporary_allocations", 7, 4},
    {"lost", 514, 207},
    {"peak_rss", 50000, 0},
};

TEST(Judge, EqualIsWithinAndOneLessIsOver) {
  for (const Answer& answer : kAnswers) {
    const std::string key = answer.key;
    SCOPED_TRACE(key);
    for (const bool of_match : {false, true}) {
      const uint64_t value = of_match ? answer.match : answer.program;
      if (value == 0) continue;
      const std::string head =
          of_match ? "[[budget.match]]\nfunction = \"Load\"\n" : std::string("[budget]\n");
      const auto limit = [&](uint64_t most) { return head + key + " = " + std::to_string(most); };
      const LimitVerdict equal = VerdictOn(limit(value), FullProfile());
      EXPECT_EQ(equal.standing, Standing::kWithin);
      EXPECT_EQ(equal.value, static_cast<double>(value));
      EXPECT_EQ(VerdictOn(limit(value - 1), FullProfile()).standing, Standing::kOver);
      EXPECT_EQ(VerdictOn(limit(value + 1), FullProfile()).standing, Standing::kWithin);
    }
  }
}

// The limit of every kind in the table is tested here, below, or with growth.
TEST(Judge, HasAnAnswerForEveryKind) {
  for (const LimitKind& kind : LimitKinds()) {
    const std::string key = kind.key;
    bool found = key == "peak_share" || key == "growth_per_hour";
    for (const Answer& answer : kAnswers) found = found || key == answer.key;
    EXPECT_TRUE(found) << key;
  }
}

TEST(Judge, AShareEqualToItsLimitIsWithin) {
  const std::string head = "[[budget.match]]\nfunction = \"Load\"\npeak_share = ";
  EXPECT_EQ(VerdictOn(head + "\"75%\"", FullProfile()).standing, Standing::kWithin);
  EXPECT_EQ(VerdictOn(head + "\"74.99%\"", FullProfile()).standing, Standing::kOver);
  // Not one of these thousandths is a binary fraction.
  for (uint64_t part = 1; part < 1000; ++part) {
    ProfileBuilder b("demo");
    b.Site({{"Load"}}, {{part, 1}, {}, {}});
    b.Site({{"Other"}}, {{1000 - part, 1}, {}, {}});
    const std::string text =
        head + "\"" + std::to_string(part / 10) + "." + std::to_string(part % 10) + "%\"";
    EXPECT_EQ(VerdictOn(text, b.profile()).standing, Standing::kWithin) << text;
  }
}

TEST(Judge, ABaselineAllowsTheLargestOfTheIncrements) {
  const Profile before = FullProfile();
  Profile now = FullProfile();
  const auto standing = [&](const std::string& bound, uint64_t more) {
    now.sites[0].peak.bytes = before.sites[0].peak.bytes + more;
    return VerdictOn("[budget]\npeak = " + bound, now, &before).standing;
  };
  EXPECT_EQ(standing("\"+5%\"", 100), Standing::kWithin);  // of 2000
  EXPECT_EQ(standing("\"+5%\"", 101), Standing::kOver);
  EXPECT_EQ(standing("\"+64\"", 64), Standing::kWithin);
  EXPECT_EQ(standing("\"+64\"", 65), Standing::kOver);
  EXPECT_EQ(standing("[\"+5%\", \"+200\"]", 200), Standing::kWithin);
  EXPECT_EQ(standing("[\"+5%\", \"+200\"]", 201), Standing::kOver);
  EXPECT_EQ(standing("[\"+5%\", \"+20\"]", 100), Standing::kWithin);
  EXPECT_EQ(standing("\"+0\"", 0), Standing::kWithin);
  EXPECT_EQ(standing("\"+0\"", 1), Standing::kOver);
  EXPECT_EQ(standing("\"+0\"\nnoise_floor = 30", 30), Standing::kWithin);
  EXPECT_EQ(standing("\"+0\"\nnoise_floor = 30", 31), Standing::kOver);
  // The noise of an absolute limit is in the limit.
  EXPECT_EQ(standing("2000\nnoise_floor = 30", 1), Standing::kOver);
}

TEST(Judge, WithMaxAndBaselineBothHold) {
  const Profile before = FullProfile();
  Profile now = FullProfile();
  const auto verdict = [&](uint64_t max, uint64_t more) {
    now.sites[0].peak.bytes = 1000 + more;
    return VerdictOn(
        "[budget]\npeak = { max = " + std::to_string(max) + ", over_baseline = \"+5%\" }", now,
        &before);
  };
  EXPECT_EQ(verdict(3000, 100).standing, Standing::kWithin);
  EXPECT_EQ(verdict(3000, 101).standing, Standing::kOver);
  EXPECT_TRUE(verdict(3000, 101).against_baseline);
  EXPECT_EQ(verdict(2050, 50).standing, Standing::kWithin);
  EXPECT_EQ(verdict(2050, 51).standing, Standing::kOver);
  EXPECT_FALSE(verdict(2050, 51).against_baseline);
  // Without a baseline the maximum is left.
  now.sites[0].peak.bytes = 1051;
  const std::string text = "[budget]\npeak = { max = 2050, over_baseline = \"+5%\" }";
  EXPECT_EQ(VerdictOn(text, now).standing, Standing::kOver);
}

TEST(Judge, SaysWhatItDoesNotJudge) {
  const LimitVerdict verdict = VerdictOn("[budget]\npeak = \"+5%\"", FullProfile());
  EXPECT_EQ(verdict.standing, Standing::kNotJudged);
  EXPECT_NE(verdict.why_not_judged.find("--baseline"), std::string::npos);
  EXPECT_EQ(VerdictOn("[budget]\ntemporary = 0", ReportProfile()).standing, Standing::kNotJudged);
  EXPECT_EQ(VerdictOn("[budget]\npeak_rss = 0", ReportProfile()).standing, Standing::kNotJudged);
  EXPECT_EQ(VerdictOn("[budget]\nlost = 0", ReportProfile()).standing, Standing::kNotJudged);
  EXPECT_EQ(VerdictOn("[budget]\ngrowth_per_hour = 0", FullProfile()).standing,
            Standing::kNotJudged);
}

TEST(Judge, DoesNotJudgeWhatIsLostWithoutItsPlaces) {
  Profile profile = FullProfile();
  profile.inspection.rows.push_back({0, {}});
  EXPECT_EQ(VerdictOn("[budget]\nlost = 514", profile).standing, Standing::kWithin);
  profile.inspection.rows.back().figures.lost_directly = {1, 1};
  EXPECT_EQ(VerdictOn("[budget]\nlost = 10000", profile).standing, Standing::kNotJudged);
}

// Sites that differ in thread only have one row in an inspection.
TEST(Judge, CountsWhatIsLostOfAPlaceOnce) {
  Profile profile = FullProfile();
  profile.sites.push_back(profile.sites[1]);
  profile.sites.back().thread_name = 1;
  profile.thread_names = {"main", "io"};
  EXPECT_EQ(VerdictOn("[budget]\nlost = 514", profile).value, 514);
  EXPECT_EQ(VerdictOn("[[budget.match]]\nfunction = \"Load\"\nlost = 0", profile).value, 207);
}

TEST(Judge, WhatTheRuntimeKeepsIsNoLeakButInTheTotals) {
  ProfileBuilder b("demo");
  b.Site({{"call_init"}}, {{200, 2}, {200, 2}, {200, 2}, "kept so"});
  EXPECT_EQ(VerdictOn("[budget]\nleaked = 0", b.profile()).standing, Standing::kWithin);
  EXPECT_EQ(VerdictOn("[budget]\nleaked_allocations = 0", b.profile()).standing, Standing::kWithin);
  EXPECT_EQ(VerdictOn("[budget]\nallocated = 199", b.profile()).standing, Standing::kOver);
  EXPECT_EQ(VerdictOn("[budget]\npeak = 199", b.profile()).standing, Standing::kOver);
}

TEST(Judge, SuppressesLeaksUntilTheDayIsOver) {
  const std::string suppress =
      "\n[[budget.suppress]]\nfunction = \"Load\"\nreason = \"known\"\nexpires = ";
  // 300 of 700 are left, and 400 suppressed.
  const LimitVerdict holds =
      VerdictOn("[budget]\nleaked = 300" + suppress + "2026-11-21", FullProfile());
  EXPECT_EQ(holds.standing, Standing::kWithin);
  EXPECT_EQ(holds.value, 300);
  EXPECT_EQ(holds.suppressed, 400);
  const Budget expired = BudgetOf("[budget]\nleaked = 300" + suppress + "2026-11-20");
  const Judgement judgement = Judge(expired, FullProfile(), nullptr, kToday);
  EXPECT_EQ(judgement.limits[0].standing, Standing::kOver);
  EXPECT_EQ(judgement.limits[0].value, 700);
  EXPECT_TRUE(judgement.suppressions[0].expired);
  EXPECT_TRUE(judgement.suppressions[0].matches);
  // It suppresses leaks, unless it names limits.
  EXPECT_EQ(VerdictOn("[budget]\npeak = 1999" + suppress + "2026-11-21", FullProfile()).standing,
            Standing::kOver);
  EXPECT_EQ(VerdictOn("[budget]\npeak = 500" + suppress + "2026-11-21\nlimits = [\"peak\"]",
                      FullProfile())
                .standing,
            Standing::kWithin);
}

// Load leaks 400 bytes in 4 blocks, main 300 in one.
Profile RunningProfile() {
  Profile profile = FullProfile();
  profile.sites[1].of_running_threads = true;
  return profile;
}

constexpr char kAllowRunning[] =
    "\n[[budget.suppress]]\nrunning_threads = true\nreason = \"by design\"\n";

TEST(Judge, CountsLeaksOfRunningThreadsUnlessTheyAreSuppressed) {
  const LimitVerdict counted = VerdictOn("[budget]\nleaked = 699", RunningProfile());
  EXPECT_EQ(counted.standing, Standing::kOver);
  EXPECT_EQ(counted.value, 700);
  EXPECT_EQ(counted.of_running_threads, 400);
  EXPECT_EQ(counted.suppressed, 0);
  const std::string limit = std::string("[budget]\nleaked = 300") + kAllowRunning;
  const LimitVerdict allowed = VerdictOn(limit, RunningProfile());
  EXPECT_EQ(allowed.standing, Standing::kWithin);
  EXPECT_EQ(allowed.value, 300);
  EXPECT_EQ(allowed.suppressed, 400);
  EXPECT_EQ(allowed.of_running_threads, 0);
  EXPECT_EQ(VerdictOn(limit, FullProfile()).standing, Standing::kOver) << "its threads have ended";
}

TEST(Judge, CountsBlocksOfRunningThreads) {
  EXPECT_EQ(VerdictOn("[budget]\nleaked_allocations = 0", RunningProfile()).of_running_threads, 4);
  const std::string limit = std::string("[budget]\nleaked_allocations = 1") + kAllowRunning;
  EXPECT_EQ(VerdictOn(limit, RunningProfile()).suppressed, 4);
}

TEST(Judge, SuppressesOfRunningThreadsOnlyWhatIsLeftAtTheEnd) {
  Profile profile = RunningProfile();
  EXPECT_EQ(VerdictOn(std::string("[budget]\npeak = 0") + kAllowRunning, profile).suppressed, 0);
  EXPECT_EQ(VerdictOn("[budget]\npeak = 0", profile).of_running_threads, 0);
}

TEST(Judge, SuppressesOfRunningThreadsOnlyWhatThePatternMatches) {
  const std::string limit = std::string("[budget]\nleaked = 0") + kAllowRunning;
  EXPECT_EQ(VerdictOn(limit + "thread = \"logger\"", RunningProfile()).suppressed, 0);
  EXPECT_EQ(VerdictOn(limit + "function = \"Load\"", RunningProfile()).suppressed, 400);
  EXPECT_EQ(VerdictOn(limit + "expires = 2026-11-20", RunningProfile()).suppressed, 0);
}

TEST(Judge, KnowsWhatMatchesNothing) {
  const Budget budget = BudgetOf(
      "[[budget.match]]\nfunction = \"Lode\"\npeak = 0\n"
      "[[budget.match]]\nfunction = \"Load\"\nrequired = true\n");
  const Judgement judgement = Judge(budget, FullProfile(), nullptr, kToday);
  ASSERT_EQ(judgement.matches.size(), 2u);
  EXPECT_FALSE(judgement.matches[0].matches);
  EXPECT_TRUE(judgement.matches[1].matches);
  EXPECT_EQ(judgement.limits[0].standing, Standing::kWithin);
}

TEST(Judge, AnEstimateIsOverByMoreThanTwoStandardErrorsOnly) {
  const Profile profile = EstimatedProfile();
  const double error = std::sqrt(profile.variances.peak.bytes);
  ASSERT_GT(error, 1);
  const auto verdict = [&](double most) {
    return VerdictOn("[budget]\npeak = " + std::to_string(static_cast<uint64_t>(most)), profile);
  };
  EXPECT_EQ(verdict(2000 - 2 * error + 1).standing, Standing::kWithin);
  EXPECT_TRUE(verdict(2000 - 2 * error + 1).uncertain);
  EXPECT_EQ(verdict(2000 - 2 * error - 1).standing, Standing::kOver);
  EXPECT_FALSE(verdict(2000).uncertain);
  EXPECT_NEAR(verdict(2000).standard_error, error, 1e-9);
  // The baseline's error counts as well.
  const double both = std::sqrt(2 * profile.variances.peak.bytes);
  Profile now = profile;
  now.sites[0].peak.bytes += static_cast<uint64_t>(2 * both) - 1;
  EXPECT_EQ(VerdictOn("[budget]\npeak = \"+0\"", now, &profile).standing, Standing::kWithin);
  now.sites[0].peak.bytes += 2;
  EXPECT_EQ(VerdictOn("[budget]\npeak = \"+0\"", now, &profile).standing, Standing::kOver);
}

TEST(Judge, APeakKnownWithinABoundIsOverBeyondIt) {
  Profile profile = FullProfile();
  profile.tracker.peak_bound_bytes = 10;
  EXPECT_EQ(VerdictOn("[budget]\npeak = 1990", profile).standing, Standing::kWithin);
  EXPECT_TRUE(VerdictOn("[budget]\npeak = 1990", profile).uncertain);
  EXPECT_EQ(VerdictOn("[budget]\npeak = 1989", profile).standing, Standing::kOver);
  // Figures other than the peak are exact.
  EXPECT_EQ(VerdictOn("[budget]\nallocated = 13099", profile).standing, Standing::kOver);
}

TEST(Judge, CountsTheSitesOfAVerdict) {
  const Budget budget = BudgetOf("[budget]\nleaked = 0\npeak = 0");
  const Judgement judgement = Judge(budget, FullProfile(), nullptr, kToday);
  EXPECT_EQ(judgement.limits[0].sites, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(judgement.limits[1].sites, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

TEST(Judge, AValueEqualToItsPercentageIsWithinHoweverThatIsRounded) {
  ProfileBuilder before("demo"), equal("demo"), more("demo");
  before.Site({{"main"}}, {{7000, 1}, {}, {}});
  equal.Site({{"main"}}, {{15'974, 1}, {}, {}});
  more.Site({{"main"}}, {{15'975, 1}, {}, {}});
  const char* budget = "[budget]\npeak = \"+128.2%\"";
  EXPECT_EQ(VerdictOn(budget, equal.profile(), &before.profile()).standing, Standing::kWithin);
  EXPECT_EQ(VerdictOn(budget, equal.profile(), &before.profile()).most, 15'974);
  EXPECT_EQ(VerdictOn(budget, more.profile(), &before.profile()).standing, Standing::kOver);
}

TEST(Judge, DoesNotHoldNamesAgainstABaselineWithoutThem) {
  ProfileBuilder nameless("demo"), now("demo");
  nameless.Site({{"demo+0x10"}, {"demo+0x20"}}, {{1000, 1}, {}, {}});
  now.Site({{"main"}, {"Load"}}, {{1000, 1}, {}, {}});
  const std::string function = "[[budget.match]]\nfunction = \"Load\"\n";
  const LimitVerdict verdict =
      VerdictOn(function + "peak = \"+5%\"", now.profile(), &nameless.profile());
  EXPECT_EQ(verdict.standing, Standing::kNotJudged);
  EXPECT_NE(verdict.why_not_judged.find("lacks the names"), std::string::npos)
      << verdict.why_not_judged;
  // Absolute limits, and those of the program, need no names in the baseline.
  EXPECT_EQ(VerdictOn(function + "peak = 999", now.profile(), &nameless.profile()).standing,
            Standing::kOver);
  EXPECT_EQ(VerdictOn("[budget]\npeak = \"+5%\"", now.profile(), &nameless.profile()).standing,
            Standing::kWithin);
}

TEST(Judge, TheSumOfPeaksIsOverOnlyWhereTheLargestIs) {
  Profile profile = FullProfile();  // 2000 at the peak, 50,000 resident
  for (const uint64_t peak : {1200u, 800u}) {
    SnapshotSource source;
    source.peak.bytes = peak;
    source.program.rss_peak_bytes = 25 * peak;
    profile.sources.push_back(source);
  }
  EXPECT_EQ(VerdictOn("[budget]\npeak = 1200", profile).standing, Standing::kWithin);
  EXPECT_TRUE(VerdictOn("[budget]\npeak = 1200", profile).uncertain);
  EXPECT_EQ(VerdictOn("[budget]\npeak = 1199", profile).standing, Standing::kOver);
  EXPECT_EQ(VerdictOn("[budget]\npeak_rss = 30000", profile).standing, Standing::kWithin);
  EXPECT_EQ(VerdictOn("[budget]\npeak_rss = 29999", profile).standing, Standing::kOver);
}

}  // namespace
}  // namespace memprof

#include "core/snapshot/moment_choice.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

// Two sites; moments at 1, 2 and 4 s of a program that ran for 10 s.
Snapshot ThreeMoments() {
  Snapshot s;
  s.program.duration_ms = 10'000;
  s.program.end_kind = EndKind::kExit;
  s.nodes = {{}};
  s.thread_names = {"main"};
  s.moments = {1000, {{1000, false}, {2000, true}, {4000, false}}};
  s.sites = {{0, 0, {90, 9}, {5, 1}, {100, 10}, 0, {}, {}, {}, {{0, {10, 1}}, {2, {30, 3}}}},
             {0, 0, {1, 1}, {0, 0}, {70, 7}, 0, {}, {}, {}, {{1, {70, 7}}, {2, {0, 0}}}}};
  s.tracker.peak_bound_bytes = 17;
  return s;
}

ChosenMoment Show(Snapshot& s, const std::string& selector) {
  const auto parsed = ParseMoment(selector);
  EXPECT_TRUE(parsed.has_value()) << selector;
  const auto chosen = ShowMoment(s, *parsed);
  EXPECT_TRUE(chosen.has_value()) << selector;
  return *chosen;
}

TEST(MomentChoice, ReadsTimesAsPeopleWriteThem) {
  for (const auto& [text, ms] : {std::pair<const char*, uint64_t>{"90s", 90'000},
                                 {"10m", 600'000},
                                 {"10min", 600'000},
                                 {"1h30m", 5'400'000},
                                 {"1.5h", 5'400'000},
                                 {"250ms", 250},
                                 {"2d", 172'800'000},
                                 {"0s", 0}}) {
    const auto parsed = ParseMoment(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(parsed->time_ms, ms) << text;
  }
}

TEST(MomentChoice, RefusesWhatIsNoTimeInOneLine) {
  for (const char* text : {"10", "m", "-5s", "1e3s", "5 s", "1..5s", ".5s", "5.s", "10x", "s5",
                           "peaks", "99999999999s", "inf", "1h30"}) {
    const auto parsed = ParseMoment(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    Snapshot s = ThreeMoments();
    const auto shown = ShowMoment(s, *parsed);
    ASSERT_FALSE(shown.has_value()) << text;
    EXPECT_EQ(shown.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(shown.error().message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(ParseMoment("").has_value());
}

// Named at 3 s, and once more at 5 s by a name that looks like a time.
Snapshot WithNamed() {
  Snapshot s = ThreeMoments();
  s.named.taken = {{"warm", 3000, true}, {"1s", 5000, false}};
  s.sites[0].named = {{0, {40, 4}}};
  s.sites[1].named = {{1, {6, 6}}};
  return s;
}

TEST(MomentChoice, ShowsANamedMomentByItsName) {
  Snapshot s = WithNamed();
  const ChosenMoment chosen = Show(s, "warm");
  EXPECT_EQ(chosen.time_ms, 3000u);
  EXPECT_TRUE(chosen.inexact);
  EXPECT_EQ(chosen.name, "the snapshot 'warm' (3.0 s)");
  EXPECT_EQ(s.sites[0].peak, (Count{40, 4}));
  EXPECT_EQ(s.sites[1].peak, Count());
}

TEST(MomentChoice, TakesANameBeforeATimeThatIsWrittenAlike) {
  Snapshot s = WithNamed();
  EXPECT_EQ(Show(s, "1s").time_ms, 5000u);
  EXPECT_EQ(s.sites[1].peak, (Count{6, 6}));
}

TEST(MomentChoice, LooksAmongTheNamedForTheNearestToo) {
  Snapshot s = WithNamed();
  EXPECT_EQ(Show(s, "2.9s").time_ms, 3000u);
  EXPECT_EQ(s.sites[0].peak, (Count{40, 4}));
  s = WithNamed();
  EXPECT_EQ(Show(s, "2.4s").time_ms, 2000u);
}

TEST(MomentChoice, ListsTheNamesThereAreForAWrongOne) {
  Snapshot s = WithNamed();
  const auto shown = ShowMoment(s, *ParseMoment("cold"));
  ASSERT_FALSE(shown.has_value());
  EXPECT_NE(shown.error().message.find("there are: warm, 1s;"), std::string::npos);
}

TEST(MomentChoice, TakesTheNearestOfTheMomentsAndTheEnd) {
  for (const auto& [selector, time] : {std::pair<const char*, uint64_t>{"0s", 1000},
                                       {"1400ms", 1000},
                                       {"1.5s", 1000},  // as near to 2 s: the earlier
                                       {"1501ms", 2000},
                                       {"7s", 4000},
                                       {"7001ms", 10'000},
                                       {"3d", 10'000}}) {
    Snapshot s = ThreeMoments();
    EXPECT_EQ(Show(s, selector).time_ms, time) << selector;
  }
}

TEST(MomentChoice, PutsWhatWasLiveThenInThePlaceOfThePeak) {
  Snapshot s = ThreeMoments();
  const ChosenMoment chosen = Show(s, "2s");
  EXPECT_TRUE(chosen.inexact);
  EXPECT_EQ(s.sites[0].peak, (Count{10, 1}));
  EXPECT_EQ(s.sites[1].peak, (Count{70, 7}));
  EXPECT_EQ(s.sites[0].leaked, (Count{5, 1}));
  EXPECT_EQ(s.program.peak_time_ms, 2000u);
  EXPECT_EQ(s.tracker.counter_peak_bytes, 80u);
  EXPECT_EQ(s.tracker.peak_bound_bytes, 0u);
  EXPECT_TRUE(s.tracker.inexact_read);
}

TEST(MomentChoice, HasTheEndAndThePeakByName) {
  Snapshot s = ThreeMoments();
  Show(s, "end");
  EXPECT_EQ(SumPeak(s), SumLeaked(s));
  s = ThreeMoments();
  Show(s, "peak");
  EXPECT_EQ(s, ThreeMoments());
}

TEST(MomentChoice, SaysWhereThereAreNoMoments) {
  Snapshot s = ThreeMoments();
  s.moments = {};
  for (SnapshotSite& site : s.sites) site.history.clear();
  const auto chosen = ShowMoment(s, *ParseMoment("1s"));
  ASSERT_FALSE(chosen.has_value());
  EXPECT_EQ(chosen.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(ShowMoment(s, *ParseMoment("end")).has_value());
}

}  // namespace
}  // namespace memprof

// The verdicts of memprof growth are as good as the documentation says, on a part of the scoring
// set. ./dev bench growth prints all of it.
#include "tests/growth/growth_score.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace memprof {
namespace {

constexpr uint64_t kFirstSeed = 5'000'001;  // no other score has these
constexpr uint64_t kRuns = 8;

TEST(GrowthScore, FindsNineteenOfTwentyLeaksAndIsRightNineteenTimesOfTwenty) {
  GrowthScore all;
  for (const SimulatedProgram& program : SimulatedPrograms()) {
    all += ScoreProgram(program, ParameterSet::kScoring, kFirstSeed, kRuns);
  }
  EXPECT_GE(all.Precision(), 0.95) << all.false_alarms << " false alarms";
  EXPECT_GE(all.Recall(), 0.95) << all.missed << " missed";
  EXPECT_GE(all.found + all.missed, 150u);
  EXPECT_GE(all.others, 1000u);
}

TEST(GrowthScore, CallsACacheThatIsFullNoLeakAndMostlyByItsName) {
  uint64_t caches = 0, levelled = 0, grow = 0;
  for (const SimulatedProgram& program : SimulatedPrograms()) {
    if (!std::string(program.name).starts_with("cache")) continue;
    const GrowthScore score = ScoreProgram(program, ParameterSet::kScoring, kFirstSeed, kRuns);
    for (const auto& [verdict, times] : score.verdicts) {
      if (!verdict.starts_with("cache: ")) continue;
      caches += times;
      if (verdict.starts_with("cache: levels off")) levelled += times;
      if (verdict.starts_with("cache: grows")) grow += times;
    }
  }
  EXPECT_GE(caches, 40u);
  EXPECT_LE(grow, caches / 20);
  EXPECT_GE(levelled, caches * 6 / 10);
}

TEST(GrowthScore, OfTheSameSeedIsTheSame) {
  const SimulatedProgram& program = SimulatedPrograms()[0];
  const GrowthScore one = ScoreProgram(program, ParameterSet::kScoring, kFirstSeed, 3);
  EXPECT_EQ(one.verdicts, ScoreProgram(program, ParameterSet::kScoring, kFirstSeed, 3).verdicts);
  EXPECT_NE(one.verdicts, ScoreProgram(program, ParameterSet::kScoring, 1, 3).verdicts);
}

TEST(SimulatedPrograms, AreAtLeastFortyOfDifferentNames) {
  std::set<std::string> names;
  for (const SimulatedProgram& program : SimulatedPrograms()) names.insert(program.name);
  EXPECT_GE(names.size(), 40u);
  EXPECT_EQ(names.size(), SimulatedPrograms().size());
}

TEST(Parameters, OfTheTwoSetsAreNeverTheSame) {
  // 16 parts of 1 to 2^16 are the powers of two: the sets have every second one.
  Parameters tuning(ParameterSet::kTuning, 1), scoring(ParameterSet::kScoring, 1);
  auto part = [](double x) {
    int i = 0;
    for (; x >= 2; x /= 2) ++i;
    return i;
  };
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(part(tuning.Between(1, 65536)) % 2, 0);
    EXPECT_EQ(part(scoring.Between(1, 65536)) % 2, 1);
  }
}

}  // namespace
}  // namespace memprof

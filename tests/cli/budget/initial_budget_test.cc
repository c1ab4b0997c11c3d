#include "cli/budget/initial_budget.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/cli/budget/yardstick.h"

namespace memprof {
namespace {

std::string AnyName(std::mt19937_64& random) {
  const char* names[] = {"main",
                         "void json::Read<char*>(char const*)",
                         "operator new[](unsigned long)",
                         "A::operator()(int) const",
                         "quo\"te\\d",
                         "broken\xff\xfe",
                         "[no symbol]",
                         "f*?",
                         "std::vector<int>::push_back(int)",
                         "Füllen(int)",
                         "x\ny",
                         "::"};
  return names[random() % std::size(names)] + (random() % 2 ? "" : std::to_string(random() % 5));
}

uint64_t AnyAmount(std::mt19937_64& random) {
  return random() >> (random() % 40 + 24);  // of every magnitude, 0 among them
}

Profile AnyProfile(uint64_t seed) {
  std::mt19937_64 random(seed);
  ProfileBuilder b("demo");
  for (uint64_t i = random() % 30; i > 0; --i) {
    std::vector<TestFrame> stack;
    for (uint64_t depth = random() % 4; depth > 0; --depth) stack.push_back({AnyName(random)});
    const Count peak = {AnyAmount(random), AnyAmount(random)};
    const Count leaked = {AnyAmount(random), AnyAmount(random)};
    b.Site(stack, {peak,
                   leaked,
                   {AnyAmount(random), AnyAmount(random)},
                   random() % 8 == 0 ? "kept so" : nullptr});
  }
  Profile profile = b.profile();
  profile.program.rss_peak_bytes = random() % 3 == 0 ? 0 : AnyAmount(random);
  return profile;
}

InitialBudgetText BudgetOf(const std::vector<Profile>& profiles) {
  std::vector<InitialRun> runs;
  for (const Profile& profile : profiles) runs.push_back({&profile, "x.memprof"});
  return InitialBudget(runs);
}

TEST(InitialBudget, LearnsTheSpreadOfSeveralRuns) {
  const auto run = [](uint64_t bytes, uint64_t blocks) {
    ProfileBuilder b("demo");
    b.Site({{"main"}, {"Read"}}, {{bytes, 1}, {0, 0}, {bytes, blocks}});
    return b.profile();
  };
  const std::vector<Profile> profiles = {run(1000, 500), run(1500, 500), run(1200, 500)};
  const InitialBudgetText budget = BudgetOf(profiles);
  // 1500 and three times 500.
  EXPECT_NE(budget.text.find("peak = \"3000 B\"  # was 1000 B to 1.5 KiB; flaky: it varies by 33%"),
            std::string::npos)
      << budget.text;
  EXPECT_NE(budget.text.find("allocations = 550  # was 500\n"), std::string::npos) << budget.text;
  ASSERT_EQ(budget.flaky.size(), 2u);
  EXPECT_EQ(budget.flaky[0].find("the program: peak varies by 33%"), 0u) << budget.flaky[0];
  EXPECT_EQ(budget.flaky[1].find("Read: peak varies by 33%"), 0u) << budget.flaky[1];
  EXPECT_TRUE(BudgetOf({profiles[0]}).flaky.empty());
}

TEST(InitialBudget, HasEachOfTheProfilesThatItCameFrom) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<Profile> profiles = {AnyProfile(seed), AnyProfile(seed + 1000)};
    const std::string text = BudgetOf(profiles).text;
    for (const Profile& profile : profiles) {
      EXPECT_FALSE(IsOver(ReportOn(YardstickOf(text), profile))) << seed << "\n" << text;
    }
  }
}

TEST(InitialBudget, HasTheProfileThatItCameFrom) {
  size_t limits = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Profile profile = AnyProfile(seed);
    const std::string text =
        InitialBudget(std::vector<InitialRun>{{&profile, "odd\nname\x1b.memprof"}}).text;
    const CheckReport report = ReportOn(YardstickOf(text), profile);
    EXPECT_FALSE(IsOver(report)) << seed << "\n" << text;
    limits += report.captures[0].items.size();
  }
  EXPECT_GT(limits, 2000u * 3);
}

TEST(InitialBudget, LeavesAQuarterAndLeavesNothingAtNothing) {
  ProfileBuilder b("demo");
  b.Site({{"main"}, {"Load(int)"}}, {{1000, 1}, {0, 0}, {1000, 33}});
  EXPECT_EQ(BudgetOf({b.profile()}).text,
            "# From x.memprof: what it measured and a quarter more. Several captures would show\n"
            "# how much the figures vary by themselves: memprof budget init A B C.\n"
            "# docs/budgets.md has every key; limits against a baseline are written\n"
            "# peak = [\"+5%\", \"+64 KiB\"].\n"
            "[budget]\n"
            "peak = \"1300 B\"  # was 1000 B\n"
            "# peak_rss: the capture doesn't know the process's memory\n"
            "leaked = \"0 B\"  # was 0 B\n"
            "allocations = 42  # was 33\n"
            "\n[[budget.match]]\n"
            "function = \"Load\"\n"
            "where = \"place\"\n"
            "peak = \"1300 B\"  # was 1000 B\n");
}

}  // namespace
}  // namespace memprof

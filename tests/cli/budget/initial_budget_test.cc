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

TEST(InitialBudget, HasTheProfileThatItCameFrom) {
  size_t limits = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Profile profile = AnyProfile(seed);
    const std::string text = InitialBudget(profile, "odd\nname\x1b.memprof");
    const CheckReport report = ReportOn(YardstickOf(text), profile);
    EXPECT_FALSE(IsOver(report)) << seed << "\n" << text;
    limits += report.captures[0].items.size();
  }
  EXPECT_GT(limits, 2000u * 3);
}

TEST(InitialBudget, LeavesAQuarterAndLeavesNothingAtNothing) {
  ProfileBuilder b("demo");
  b.Site({{"main"}, {"Load(int)"}}, {{1000, 1}, {0, 0}, {1000, 33}});
  EXPECT_EQ(
      InitialBudget(b.profile(), "x.memprof"),
      "# From x.memprof: what it measured and a quarter more. docs/budgets.md\n"
      "# has every key; limits against a baseline are written peak = [\"+5%\", \"+64 KiB\"].\n"
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

#include "formats/budget_file.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto budget = ParseBudget(text, "memprof.toml");
  if (budget) return "";
  EXPECT_EQ(budget.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(budget.error().message.find('\n'), std::string::npos) << budget.error().message;
  return budget.error().message;
}

TEST(BudgetFile, ReadsTheMinimalForm) {
  const auto budget = ParseBudget(
      "[budget]\npeak = \"24 MiB\"\nleaked = \"0 B\"\nallocations = 1000\n"
      "[[budget.match]]\nfunction = \"parse_*\"\npeak = \"1 MiB\"\n",
      "memprof.toml");
  ASSERT_TRUE(budget) << budget.error().message;
  const BudgetRule& program = budget->program;
  ASSERT_EQ(program.limits.size(), 3u);
  EXPECT_STREQ(program.limits[0].kind->key, "peak");
  EXPECT_EQ(program.limits[0].bound.most, 24.0 * (1 << 20));
  EXPECT_EQ(program.limits[0].bound.text, "24 MiB");
  EXPECT_EQ(program.limits[0].line, 2u);
  EXPECT_EQ(program.limits[1].bound.most, 0);
  EXPECT_EQ(program.limits[2].bound.most, 1000);
  ASSERT_EQ(budget->matches.size(), 1u);
  EXPECT_EQ(budget->matches[0].name, "function parse_*");
  EXPECT_EQ(budget->matches[0].limits[0].line, 7u);
}

TEST(BudgetFile, ReadsEveryKey) {
  const auto budget = ParseBudget(R"(
[budget]
peak = ["+5%", "+2 MiB"]
peak_rss = { max = "1 GiB", over_baseline = "+10%" }
noise_floor = "64 KiB"
noise_floor_allocations = 7
[[budget.match]]
name = "the parser"
function = ["a*", { regex = "^b" }]
namespace = "n"
source = "s.cc"
module = "libm.so"
thread = "t"
where = "place"
required = true
noise_floor = 5
peak_share = "25%"
growth_per_hour = "1 MiB/h"
[[budget.suppress]]
function = "known"
reason = "ticket 1"
expires = 2026-12-31
[[budget.suppress]]
function = "other"
reason = "ticket 2"
expires = 2027-02-28
limits = ["peak"]
)",
                                  "memprof.toml");
  ASSERT_TRUE(budget) << budget.error().message;
  const Bound& peak = budget->program.limits[0].bound;
  EXPECT_FALSE(peak.most);
  EXPECT_EQ(peak.increments.size(), 2u);
  EXPECT_EQ(peak.text, "+5% or +2 MiB");
  EXPECT_EQ(budget->program.limits[1].bound.text, "1 GiB and +10%");
  EXPECT_EQ(budget->program.noise_floor, 65536);
  const BudgetRule& match = budget->matches[0];
  EXPECT_EQ(match.name, "the parser");
  EXPECT_EQ(match.pattern.functions.size(), 2u);
  EXPECT_EQ(match.pattern.where, Where::kPlace);
  EXPECT_TRUE(match.required);
  EXPECT_EQ(match.noise_floor, 5);
  EXPECT_EQ(match.noise_floor_allocations, 7);  // the program's
  ASSERT_EQ(budget->suppressions.size(), 2u);
  EXPECT_EQ(budget->suppressions[0].kinds.size(), 4u);  // leaked, its blocks, lost, growth
  ASSERT_EQ(budget->suppressions[1].kinds.size(), 1u);
  EXPECT_STREQ(budget->suppressions[1].kinds[0]->key, "peak");
  using namespace std::chrono_literals;
  EXPECT_EQ(budget->suppressions[0].expires, 2026y / 12 / 31);
}

TEST(BudgetFile, TakesRunningThreadsWithoutAPatternAndWithoutADay) {
  const auto budget = ParseBudget(
      "[budget]\nleaked = 0\n[[budget.suppress]]\nrunning_threads = true\nreason = \"r\"", "b");
  ASSERT_TRUE(budget) << budget.error().message;
  ASSERT_EQ(budget->suppressions.size(), 1u);
  const Suppression& suppression = budget->suppressions[0];
  EXPECT_TRUE(suppression.running_threads);
  EXPECT_FALSE(suppression.expires);
  ASSERT_EQ(suppression.kinds.size(), 2u);
  EXPECT_STREQ(suppression.kinds[0]->key, "leaked");
  EXPECT_STREQ(suppression.kinds[1]->key, "leaked_allocations");
  EXPECT_EQ(Describe(suppression), "threads that still ran at the end");
}

TEST(BudgetFile, SaysWhereAndWhatIsWrong) {
  const char* cases[][2] = {
      {"[budget]\npeek = 1",
       "memprof.toml:2:1: there is no 'peek' in [budget]; did you mean 'peak'?"},
      {"[budget]\n  leakde = 1",
       "memprof.toml:2:3: there is no 'leakde' in [budget]; did you mean 'leaked'?"},
      {"[budgte]\npeak = 1",
       "memprof.toml:1:2: there is no 'budgte' in the file; did you mean 'budget'?"},
      {"peak = 1", "memprof.toml:1:1: there is no 'peak' in the file; it goes below [budget]"},
      {"[[match]]\nfunction = \"a\"",
       "memprof.toml:1:3: there is no 'match' in the file; write [[budget.match]]"},
      {"[budget]\npeak_share = \"5%\"",
       "memprof.toml:2:1: there is no 'peak_share' in [budget]; it goes into a [[budget.match]]"},
      {"[budget.match]\nfunction = \"a\"",
       "memprof.toml:1:9: write [[budget.match]], with two brackets"},
      {"[budget]\npeak = -1", "memprof.toml:2:8: write a size, e.g. \"24 MiB\""},
      {"[budget]\npeak = 1.5", "memprof.toml:2:8: write a size, e.g. \"24 MiB\""},
      {"[budget]\npeak = \"24 MX\"",
       "memprof.toml:2:8: '24 MX' is no size; write e.g. 512, 64 KiB, 24 MB or 1.5 GiB"},
      {"[budget]\nallocations = \"1 KiB\"",
       "memprof.toml:2:15: '1 KiB' is no number; write e.g. 1000"},
      {"[budget]\npeak = [\"5%\"]", "memprof.toml:2:9: '5%' is no increment; write e.g. \"+5%\""},
      {"[budget]\npeak = { most = 1 }",
       "memprof.toml:2:10: there is no 'most' in a limit; there are max, over_baseline"},
      {"", "memprof.toml:1:1: there is no [budget]"},
      {"[budget]\nnoise_floor = 1",
       "memprof.toml:1:1: this limits nothing; write e.g. peak = \"24 MiB\""},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

TEST(BudgetFile, RefusesHalfAMatchAndHalfASuppression) {
  const auto match = [](const std::string& keys) { return ErrorOf("[[budget.match]]\n" + keys); };
  EXPECT_NE(match("peak = 1").find("needs a function"), std::string::npos);
  EXPECT_NE(match("function = \"a\"").find("limits nothing"), std::string::npos);
  EXPECT_NE(match("function = \"\"\npeak = 1").find("empty pattern"), std::string::npos);
  EXPECT_NE(match("function = { regex = \"(\" }\npeak = 1").find("is no pattern"),
            std::string::npos);
  EXPECT_NE(match("function = 1\npeak = 1").find("write function = "), std::string::npos);
  EXPECT_NE(match("function = \"a\"\nwhere = \"leaf\"\npeak = 1").find("\"place\""),
            std::string::npos);
  EXPECT_NE(match("function = \"a\"\npeak_rss = 1").find("of the whole program"),
            std::string::npos);
  const auto suppress = [](const std::string& keys) {
    return ErrorOf("[budget]\npeak = 1\n[[budget.suppress]]\n" + keys);
  };
  EXPECT_NE(suppress("function = \"a\"\nexpires = 2026-12-31").find("reason"), std::string::npos);
  EXPECT_NE(suppress("function = \"a\"\nreason = \"r\"").find("last day"), std::string::npos);
  EXPECT_NE(suppress("running_threads = true").find("reason"), std::string::npos);
  EXPECT_NE(suppress("running_threads = 1").find("true or false"), std::string::npos);
  EXPECT_NE(suppress("running_threads = false\nreason = \"r\"").find("needs a function"),
            std::string::npos);
  EXPECT_NE(suppress("running_threads = true\nreason = \"r\"\nlimits = [\"peak\"]").find("'peak'"),
            std::string::npos);
  EXPECT_NE(suppress("running_threads = true\nreason = \"r\"\nlimits = [\"growth_per_hour\"]")
                .find("'growth_per_hour'"),
            std::string::npos);
  EXPECT_NE(suppress("thread = \"a\"\nreason = \"r\"\nexpires = 2026-12-31\nlimits = [\"lost\"]")
                .find("isn't known by thread"),
            std::string::npos);
  EXPECT_NE(match("function = \"a\"\nthread = \"t\"\nlost = 1").find("isn't known by thread"),
            std::string::npos);
  EXPECT_NE(suppress("reason = \"r\"\nexpires = 2026-12-31").find("needs a function"),
            std::string::npos);
  EXPECT_NE(
      suppress("function = \"a\"\nreason = \"r\"\nexpires = \"2026-12-31\"").find("without quotes"),
      std::string::npos);
  EXPECT_NE(suppress("function = \"a\"\nreason = \"r\"\nexpires = 2026-02-30").find(":6:"),
            std::string::npos);
  EXPECT_NE(suppress("function = \"a\"\nreason = \"r\"\nexpires = 2026-12-31\nlimits = [\"leakd\"]")
                .find("did you mean 'leaked'"),
            std::string::npos);
}

TEST(BudgetFile, GivesThePlaceOfWhatIsNoToml) {
  EXPECT_EQ(ErrorOf("[budget]\npeak = \n").rfind("memprof.toml:2:", 0), 0u);
  EXPECT_EQ(ErrorOf("[budget]\npeak = 1\npeak = 2\n").rfind("memprof.toml:3:", 0), 0u);
}

// toml++ has undefined behaviour for some letters outside strings (found by fuzzing).
TEST(BudgetFile, RefusesLettersBeyondAsciiWhereTomlHasNoPlaceForThem) {
  EXPECT_EQ(ErrorOf("[budget]\n[[budget\u048fup]]\n").rfind("memprof.toml:2:9: ", 0), 0u);
  EXPECT_EQ(ErrorOf("[budget]\npeak\u00a0= 1\n").rfind("memprof.toml:2:5: ", 0), 0u);
  EXPECT_EQ(ErrorOf("\"\"\"é\n\\\"\"\"\" é\n").rfind("memprof.toml:2:7: ", 0), 0u);
}

// Found by fuzzing.
TEST(BudgetFile, SaysOnOneLineWhatIsWrongWithSeveral) {
  EXPECT_EQ(ErrorOf("[budget]\npeak = tru\nx"),
            "memprof.toml:2:11: Error while parsing boolean: expected 'true', saw 'tru\\n'");
  EXPECT_EQ(ErrorOf("[budget]\n\"a\\nb\" = 1\n").rfind("memprof.toml:2:1: there is no 'a\\nb'"),
            0u);
}

TEST(BudgetFile, TakesLettersBeyondAsciiInStringsAndComments) {
  for (const char* text :
       {"# é\n[budget]\npeak = 1 # \u048f", "\xef\xbb\xbf[budget]\npeak = 1\n",
        "[[budget.match]]\nfunction = \"\u048f\"\npeak = 1\n",
        "[[budget.match]]\nfunction = '\\\u048f'\npeak = 1\n",
        "[[budget.match]]\nfunction = 'f'\npeak = 1\nname = \"\"\"\"é\n\\\"é\"\"\"\n"}) {
    EXPECT_EQ(ErrorOf(text), "") << text;
  }
}

}  // namespace
}  // namespace memprof

#include "core/budget/site_pattern.h"

#include <gtest/gtest.h>

#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

using Flags = std::vector<bool>;

std::vector<Pattern> Globs(const char* glob) { return {*Pattern::Glob(glob)}; }
std::vector<Pattern> Paths(const char* glob) { return {*Pattern::PathGlob(glob)}; }

// ReportProfile: Load; Load, below a vector; main; main; the loader.
TEST(SitePattern, AFunctionMatchesAllThatIsAllocatedBelowIt) {
  SitePattern pattern;
  pattern.functions = Globs("Load");
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), (Flags{true, true, false, false, false}));
  pattern.functions = Globs("main");
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), (Flags{true, true, true, true, false}));
  pattern.functions = Globs("std::vector<char>::reserve");
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), (Flags{false, true, false, false, false}));
}

TEST(SitePattern, APlaceIsTheFunctionThatReportsName) {
  SitePattern pattern;
  pattern.where = Where::kPlace;
  pattern.functions = Globs("main");
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), (Flags{false, false, true, true, false}));
  pattern.functions = Globs("Load");
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), (Flags{true, true, false, false, false}));
  pattern.functions = Globs("std::*");
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), Flags(5, false));
}

TEST(SitePattern, KeysOfFramesHoldForOneFrame) {
  SitePattern pattern;
  pattern.functions = Globs("Load");
  pattern.sources = Paths("demo/load.cc");
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), (Flags{true, true, false, false, false}));
  pattern.sources = Paths("main.cc");  // is another frame's
  EXPECT_EQ(MatchingSites(ReportProfile(), pattern), Flags(5, false));
}

TEST(SitePattern, KnowsNamespacesModulesAndThreads) {
  ProfileBuilder b("demo");
  b.Site({{"main"}, {"json::detail::Fill(int)"}}, {{1, 1}, {}, {}, nullptr, "worker"});
  b.Site({{"main"}, {"jsonish::Fill"}}, {{1, 1}, {}, {}});
  b.Site({{"main"}, {"deflate", "", 0, "/usr/lib/libz.so.1.2.13"}}, {{1, 1}, {}, {}});
  SitePattern pattern;
  pattern.namespaces = Globs("json");
  EXPECT_EQ(MatchingSites(b.profile(), pattern), (Flags{true, false, false}));
  pattern.namespaces = Globs("json::*");
  EXPECT_EQ(MatchingSites(b.profile(), pattern), (Flags{true, false, false}));
  pattern = {};
  pattern.modules = Paths("libz.so");
  EXPECT_EQ(MatchingSites(b.profile(), pattern), (Flags{false, false, true}));
  pattern.modules = Paths("/usr/lib/libz.so.*");
  EXPECT_EQ(MatchingSites(b.profile(), pattern), (Flags{false, false, true}));
  pattern.modules = Paths("[program]");
  EXPECT_EQ(MatchingSites(b.profile(), pattern), (Flags{true, true, true}));
  pattern.where = Where::kPlace;
  EXPECT_EQ(MatchingSites(b.profile(), pattern), (Flags{true, true, false}));
  pattern = {};
  pattern.threads = Globs("work*");
  EXPECT_EQ(MatchingSites(b.profile(), pattern), (Flags{true, false, false}));
}

TEST(SitePattern, IsDescribedByItsKeys) {
  SitePattern pattern;
  pattern.functions = Globs("parse_*");
  pattern.functions.push_back(*Pattern::Regex("^a"));
  pattern.threads = Globs("worker");
  EXPECT_EQ(Describe(pattern), "function parse_* or /^a/, thread worker");
  EXPECT_FALSE(IsEmpty(pattern));
  EXPECT_TRUE(IsEmpty({}));
}

}  // namespace
}  // namespace memprof

#include "core/budget/pattern.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

bool Glob(const char* glob, const char* name) { return Pattern::Glob(glob)->Matches(name); }
bool Path(const char* glob, const char* name) { return Pattern::PathGlob(glob)->Matches(name); }

TEST(Pattern, GlobMatchesTheWholeName) {
  EXPECT_TRUE(Glob("parse_*", "parse_json"));
  EXPECT_TRUE(Glob("parse_*", "parse_"));
  EXPECT_FALSE(Glob("parse_*", "reparse_json"));
  EXPECT_FALSE(Glob("parse", "parse_json"));
  EXPECT_TRUE(Glob("a?c", "abc"));
  EXPECT_FALSE(Glob("a?c", "ac"));
  EXPECT_FALSE(Glob("a\\*", "ab"));
  EXPECT_TRUE(Glob("a\\*", "a*"));
}

TEST(Pattern, ACopiedNameMatchesItself) {
  for (const char* name : {"std::vector<int*, (anonymous namespace)::A>::push_back(int*&&)",
                           "operator[](a|b)", "f(char*) [clone .x]", "$x^.{3}+"}) {
    EXPECT_TRUE(Glob(name, name)) << name;
  }
}

TEST(Pattern, PathGlobMatchesTheLastComponents) {
  EXPECT_TRUE(Path("src/*.cc", "/build/src/a/b.cc"));
  EXPECT_TRUE(Path("b.cc", "/build/src/a/b.cc"));
  EXPECT_FALSE(Path("src/*.cc", "/build/mysrc/b.cc"));
  EXPECT_FALSE(Path("/src/*.cc", "/build/src/b.cc"));
  EXPECT_TRUE(Path("*/src/*", "/build/src/b.cc"));
}

TEST(Pattern, RegexIsFoundAnywhereUnlessAnchored) {
  EXPECT_TRUE(Pattern::Regex("parse_(json|xml)")->Matches("re_parse_xml_now"));
  EXPECT_FALSE(Pattern::Regex("^parse_(json|xml)$")->Matches("re_parse_xml_now"));
  EXPECT_EQ(Pattern::Regex("^a$")->text(), "/^a$/");
}

TEST(Pattern, RefusesWhatIsNone) {
  EXPECT_FALSE(Pattern::Glob(""));
  EXPECT_FALSE(Pattern::Regex(""));
  const auto bad = Pattern::Regex("parse_(");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::kUsage);
  EXPECT_NE(bad.error().message.find("parse_("), std::string::npos);
  EXPECT_FALSE(Pattern::Regex("((a{100}){100}){100}"));
}

}  // namespace
}  // namespace memprof

#include "core/profile/path_map.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace memprof {
namespace {

PathMap Rules(std::initializer_list<const char*> rules) {
  PathMap map;
  for (const char* rule : rules) EXPECT_TRUE(map.Add(rule)) << rule;
  return map;
}

TEST(PathMap, ReplacesWholeComponentsAtTheFront) {
  const PathMap map = Rules({"/build=/home/me"});
  EXPECT_EQ(map.Map("/build/src/a.c"), "/home/me/src/a.c");
  EXPECT_EQ(map.Map("/build"), "/home/me");
  EXPECT_EQ(map.Map("/builder/a.c"), "/builder/a.c");
  EXPECT_EQ(map.Map("/x/build/a.c"), "/x/build/a.c");
  EXPECT_EQ(map.Map("build/a.c"), "build/a.c");
  EXPECT_EQ(map.Map(""), "");
}

TEST(PathMap, TrimsWithAnEmptyNewPath) {
  const PathMap map = Rules({"/build/src="});
  EXPECT_EQ(map.Map("/build/src/lib/a.c"), "lib/a.c");
  EXPECT_EQ(map.Map("/build/src"), "/build/src");  // nothing would be left
  EXPECT_EQ(map.Map("/build/srcs/a.c"), "/build/srcs/a.c");
}

TEST(PathMap, TakesSlashesAtTheEndsAndDotsForNothing) {
  for (const char* rule : {"/build=/me", "/build/=/me", "/build=/me/", "/build//=/me//",
                           "/./build=/me", "/x/../build/=/me/"}) {
    EXPECT_EQ(Rules({rule}).Map("/build/a.c"), "/me/a.c") << rule;
  }
  EXPECT_EQ(Rules({"/=/root"}).Map("/a/b.c"), "/root/a/b.c");
  EXPECT_EQ(Rules({"/="}).Map("/a/b.c"), "a/b.c");
  EXPECT_EQ(Rules({"/build=/"}).Map("/build/b.c"), "/b.c");
  EXPECT_EQ(Rules({"./src=/me"}).Map("src/a.c"), "/me/a.c");
}

TEST(PathMap, AppliesTheFirstRuleThatFitsOnce) {
  const PathMap map = Rules({"/a/b=/b", "/a=/c", "/b=/never"});
  EXPECT_EQ(map.Map("/a/b/x"), "/b/x");
  EXPECT_EQ(map.Map("/a/x"), "/c/x");
  EXPECT_EQ(map.Map("/b/x"), "/never/x");
  EXPECT_EQ(Rules({"/a=b=c"}).Map("/a/x"), "b=c/x");
}

TEST(PathMap, RefusesWhatIsNoRule) {
  for (const char* text : {"", "/build", "=", "=/home/me"}) {
    PathMap map;
    const auto added = map.Add(text);
    ASSERT_FALSE(added) << text;
    EXPECT_EQ(added.error().kind, ErrorKind::kUsage);
    EXPECT_TRUE(map.empty());
  }
}

}  // namespace
}  // namespace memprof

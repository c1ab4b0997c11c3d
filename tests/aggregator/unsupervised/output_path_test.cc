#include "aggregator/unsupervised/output_path.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

OutputPath PathOf(const char* pattern, const char* program = "app") {
  OutputPath path;
  EXPECT_TRUE(path.Init(pattern, "/var/lib", program));
  return path;
}

TEST(OutputPath, GivesTheFirstProcessTheNameItselfAndOthersTheirPid) {
  OutputPath path = PathOf("/tmp/x.memprof");
  EXPECT_STREQ(path.Name(4711, 1), "/tmp/x.memprof");
  EXPECT_STREQ(path.Name(4711, 2), "/tmp/x.4711.memprof");
  EXPECT_STREQ(path.Name(4711, 3), "/tmp/x.4711.2.memprof");
  EXPECT_STREQ(path.Name(4711, 12), "/tmp/x.4711.11.memprof");
}

TEST(OutputPath, HasNoSecondPidWhereThePatternHasOne) {
  OutputPath path = PathOf("/tmp/x.%p.memprof");
  EXPECT_TRUE(path.HasPid());
  EXPECT_STREQ(path.Name(4711, 1), "/tmp/x.4711.memprof");
  EXPECT_STREQ(path.Name(4711, 2), "/tmp/x.4711.2.memprof");
}

TEST(OutputPath, ExpandsTheProgramAndPercentSignsOnce) {
  EXPECT_STREQ(PathOf("/tmp/%n-100%%.%x", "a%pb").Name(7, 1), "/tmp/a%pb-100%.%x");
  EXPECT_FALSE(PathOf("/tmp/100%%p").HasPid());
}

TEST(OutputPath, IsRelativeToTheFolderOfTheStart) {
  OutputPath path = PathOf("x.memprof");
  EXPECT_STREQ(path.Name(1, 1), "/var/lib/x.memprof");
  EXPECT_STREQ(path.Folder(), "/var/lib/");
}

TEST(OutputPath, PutsThePidBehindANameWithoutExtension) {
  EXPECT_STREQ(PathOf("/a.b/x").Name(7, 2), "/a.b/x.7");
  EXPECT_STREQ(PathOf("/a.b/.x").Name(7, 2), "/a.b/.x.7");
}

TEST(OutputPath, KnowsItsFilesFromOthers) {
  OutputPath path = PathOf("/tmp/x.memprof");
  EXPECT_TRUE(path.Fits("x.memprof"));
  EXPECT_TRUE(path.Fits("x.4711.2.memprof"));
  EXPECT_FALSE(path.Fits("x.4711.memprof.html"));
  EXPECT_FALSE(path.Fits("y.memprof"));
  EXPECT_FALSE(path.Fits("x.mem"));
  OutputPath with_pid = PathOf("/tmp/%n-%p.memprof");
  EXPECT_TRUE(with_pid.Fits("app-17.memprof"));
  EXPECT_FALSE(with_pid.Fits("other-17.memprof"));
  OutputPath ends_with_pid = PathOf("/tmp/app.out.%p");
  EXPECT_STREQ(ends_with_pid.Name(4711, 2), "/tmp/app.out.4711.2");
  EXPECT_TRUE(ends_with_pid.Fits("app.out.4711"));
  EXPECT_TRUE(ends_with_pid.Fits("app.out.4711.2"));
  EXPECT_FALSE(ends_with_pid.Fits("app.4711"));
}

TEST(OutputPath, RefusesWhatNamesNoFile) {
  OutputPath path;
  EXPECT_FALSE(path.Init("", "/tmp", "app"));
  EXPECT_FALSE(path.Init("/tmp/", "/tmp", "app"));
  EXPECT_FALSE(path.Init(std::string(OutputPath::kLongest, 'a').c_str(), "/tmp", "app"));
}

TEST(OutputPath, GivesNoNameThatIsTooLong) {
  const std::string pattern = "/" + std::string(OutputPath::kLongest - 3, 'a');
  OutputPath path = PathOf(pattern.c_str());
  EXPECT_NE(path.Name(4711, 1), nullptr);
  EXPECT_EQ(path.Name(4711, 2), nullptr);
}

}  // namespace
}  // namespace memprof

#include "cli/load/capture_name.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace memprof {
namespace {

class CaptureNameTest : public testing::Test {
 protected:
  CaptureNameTest() {
    char name[] = "/tmp/memprof-name-XXXXXX";
    directory_ = mkdtemp(name);
    Touch("x.memprof");
  }
  ~CaptureNameTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) { return directory_ + "/" + name; }
  void Touch(const std::string& name) { std::ofstream(Path(name)) << "x"; }

  std::string directory_;
};

TEST_F(CaptureNameTest, HasTheMomentAfterTheLastAt) {
  const auto name = ParseCaptureName(Path("x.memprof@90s"));
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->file, Path("x.memprof"));
  ASSERT_TRUE(name->moment.has_value());
  EXPECT_EQ(name->moment->time_ms, 90'000u);
  EXPECT_FALSE(ParseCaptureName(Path("x.memprof"))->moment.has_value());
}

TEST_F(CaptureNameTest, IsAFilesNameFirst) {
  Touch("x.memprof@90s");
  EXPECT_EQ(ParseCaptureName(Path("x.memprof@90s"))->file, Path("x.memprof@90s"));
  const auto name = ParseCaptureName(Path("x.memprof@90s@end"));
  EXPECT_EQ(name->file, Path("x.memprof@90s"));
  EXPECT_EQ(name->moment->kind, MomentSelector::Kind::kEnd);
  // An '@' of a folder is no moment's.
  EXPECT_EQ(ParseCaptureName(Path("a@b/x"))->file, Path("a@b/x"));
}

TEST_F(CaptureNameTest, TakesWhatIsNoTimeForAName) {
  const auto name = ParseCaptureName(Path("x.memprof@soon"));
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->moment->kind, MomentSelector::Kind::kNamed);
  EXPECT_EQ(name->moment->text, "soon");
  const auto nothing = ParseCaptureName(Path("x.memprof@"));
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error().kind, ErrorKind::kUsage);
  // If there is no such file either, the message says that.
  EXPECT_EQ(ParseCaptureName(Path("y@soon"))->file, Path("y@soon"));
}

}  // namespace
}  // namespace memprof

#include "cli/basics/output_name.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

TEST(OutputName, IsNotEmpty) {
  const auto refused = CheckOutput("", "-o", true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
}

TEST(OutputName, HasThePidAndTheProgramsBaseName) {
  EXPECT_EQ(ExpandName(kDefaultOutput, "/usr/bin/perl", 42), "perl.42.memprof");
  EXPECT_EQ(ExpandName("d/%p-%p.%n", "./a b", 7), "d/7-7.a b");
}

TEST(OutputName, LeavesOtherPercentSignsAlone) {
  EXPECT_EQ(ExpandName("100%%.%x.%", "a", 7), "100%.%x.%");
}

TEST(OutputName, HasTheNamedMomentsNameOnlyWhereThatIsAskedFor) {
  const std::string name = "warm";
  EXPECT_EQ(ExpandName("%s-%p%%s", "a", 7, &name), "warm-7%s");
  EXPECT_EQ(ExpandName("%s", "a", 7), "%s");
}

TEST(OutputName, IsTheSameForEverySpellingOfAFileThereOrNot) {
  const TemporaryDirectory files;
  const std::string file = files / "x.memprof";
  std::filesystem::create_directory_symlink(files.path(), files / "link");
  for (const char* written : {"", "already there"}) {
    if (*written != 0) files.Write("x.memprof", written);
    EXPECT_EQ(CanonicalName(files / "./x.memprof"), CanonicalName(file));
    EXPECT_EQ(CanonicalName(files / "link/x.memprof"), CanonicalName(file));
    EXPECT_EQ(CanonicalName(std::filesystem::relative(file)), CanonicalName(file));
    EXPECT_NE(CanonicalName("x.memprof"), CanonicalName(file));
    EXPECT_EQ(CanonicalName("x.memprof"), std::filesystem::current_path() / "x.memprof");
  }
  EXPECT_EQ(CanonicalName(""), "");
}

TEST(OutputName, PutsAnImagesNumberBeforeTheExtension) {
  EXPECT_EQ(InsertBeforeExtension("x.memprof", ".exec1"), "x.exec1.memprof");
  EXPECT_EQ(InsertBeforeExtension("a.b/x.7.memprof", ".exec2"), "a.b/x.7.exec2.memprof");
  EXPECT_EQ(InsertBeforeExtension("a.b/x", ".exec1"), "a.b/x.exec1");
}

TEST(OutputName, TakesANewFile) {
  const TemporaryDirectory files;
  EXPECT_TRUE(CheckOutput(files / "x.memprof", "-o", false));
}

TEST(OutputName, RefusesAnExistingFileUnlessTold) {
  const TemporaryDirectory files;
  const std::string file = files.Write("x.memprof", "");
  const auto refused = CheckOutput(file, "-o", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kExists);
  EXPECT_NE(refused.error().message.find("-f"), std::string::npos);
  EXPECT_TRUE(CheckOutput(file, "-o", true));
}

// It would be replaced for every program on the machine.
TEST(OutputName, RefusesTheSystemsLinksEvenIfTold) {
  for (const char* name : {"/dev/stdout", "/dev/../dev/stderr", "/dev/fd/1", "/proc/self/fd/1"}) {
    const auto checked = CheckOutput(name, "-o", true);
    ASSERT_FALSE(checked.has_value()) << name;
    EXPECT_EQ(checked.error().kind, ErrorKind::kIo);
  }
}

TEST(OutputName, RefusesADirectoryThatIsNotThere) {
  const TemporaryDirectory files;
  EXPECT_FALSE(CheckOutput(files / "no/x.memprof", "-o", true));
  EXPECT_FALSE(CheckOutput(files.Write("file", "") + "/x.memprof", "-o", true));
}

TEST(OutputName, RefusesANameWithoutRoomForTheFilesBesideIt) {
  const TemporaryDirectory files;
  EXPECT_TRUE(CheckOutput(files / std::string(200, 'm'), "-o", true));
  EXPECT_FALSE(CheckOutput(files / std::string(247, 'm'), "-o", true));
}

TEST(OutputName, OverwritesCapturesAndRegionsOnly) {
  const TemporaryDirectory files;
  EXPECT_TRUE(CheckOverwritten(files / "none", "-o"));
  EXPECT_TRUE(CheckOverwritten(files.Write("empty", ""), "-o"));
  EXPECT_TRUE(CheckOverwritten(files.Write("capture", "MEMPROFC and more"), "-o"));
  EXPECT_TRUE(CheckOverwritten(files.Write("region", "MEMRPFR1 and more"), "-o"));
  for (const char* other : {"\x7f"
                            "ELF, a program",
                            "short", "MEMPROF is in these notes"}) {
    const auto refused = CheckOverwritten(files.Write("other", other), "-o");
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().kind, ErrorKind::kExists);
  }
}

TEST(OutputName, RemovesNothingOfOthersBesideACapture) {
  const TemporaryDirectory files;
  for (const char* name : {"x.memprof", "x.all.memprof", "x.exec1.memprof", "x.exec2.memprof"}) {
    files.Write(name, "MEMPROFC and more");
  }
  EXPECT_TRUE(CheckCapturesOf(files / "x.memprof", "-o"));
  files.Write("x.exec2.memprof", "somebody's");
  const auto refused = CheckCapturesOf(files / "x.memprof", "-o");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("x.exec2.memprof"), std::string::npos);
  files.Write("x.exec2.memprof", "");
  RemoveCapturesOf(files / "x.memprof");
  EXPECT_TRUE(std::filesystem::is_empty(files.path()));
}

TEST(OutputName, ReplacesMetricsOnly) {
  const TemporaryDirectory files;
  EXPECT_TRUE(CheckOverwrittenMetrics(files / "x.prom", "--metrics"));
  files.Write("x.prom", "# HELP memprof_live_bytes …\n");
  EXPECT_TRUE(CheckOverwrittenMetrics(files / "x.prom", "--metrics"));
  files.Write("x.prom", "notes");
  EXPECT_FALSE(CheckOverwrittenMetrics(files / "x.prom", "--metrics"));
}

TEST(OutputName, ReplacesNoDeviceAndNoDirectory) {
  const TemporaryDirectory files;
  EXPECT_FALSE(CheckOutput("/dev/null", "-o", true));
  EXPECT_FALSE(CheckOutput(files.path(), "-o", true));
}

}  // namespace
}  // namespace memprof

#include "cli/terminal/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "cli/basics/exit_status.h"

namespace memprof {
namespace {

class Output : public testing::Test {
 protected:
  Output() {
    char name[] = "/tmp/memprof-output-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~Output() override { std::filesystem::remove_all(directory_); }

  std::string Path(const char* name) const { return directory_ + "/" + name; }
  static std::string Content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  std::string directory_;
};

TEST_F(Output, IsNeverOverwrittenWithoutForce) {
  const std::string file = Path("x");
  EXPECT_EQ(WriteOutput({file, false}, "one"), kExitFine);
  EXPECT_EQ(WriteOutput({file, false}, "two"), kExitUsage);
  EXPECT_EQ(Content(file), "one");
  EXPECT_EQ(WriteOutput({file, true}, "three"), kExitFine);
  EXPECT_EQ(Content(file), "three");
}

TEST_F(Output, DoesNotFollowALinkThatLeadsNowhere) {
  ASSERT_EQ(symlink(Path("target").c_str(), Path("link").c_str()), 0);
  EXPECT_EQ(WriteOutput({Path("link"), false}, "x"), kExitUsage);
  EXPECT_FALSE(std::filesystem::exists(Path("target")));
}

TEST_F(Output, IsWrittenIntoAPipeAndLeavesItAPipe) {
  const std::string fifo = Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = Content(fifo); });
  EXPECT_EQ(WriteOutput({fifo, true}, "text"), kExitFine);
  reader.join();
  EXPECT_EQ(got, "text");
  struct stat info;
  ASSERT_EQ(lstat(fifo.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

TEST_F(Output, IsAsReadableAsTheUmaskHasIt) {
  const mode_t before = umask(0027);
  const std::string file = Path("x");
  EXPECT_EQ(WriteOutput({file, false}, "x"), kExitFine);
  umask(before);
  struct stat info;
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(Output, RefusesAFolderEvenByForce) {
  EXPECT_EQ(WriteOutput({directory_, true}, "x"), kExitUsage);
  EXPECT_TRUE(std::filesystem::is_directory(directory_));
}

TEST_F(Output, SaysThatTheSystemRefused) {
  EXPECT_EQ(WriteOutput({Path("nowhere/x"), false}, "x"), kExitFailed);
  EXPECT_EQ(WriteOutput({"/dev/full", false}, "x"), kExitFailed);
}

TEST_F(Output, HasNoEscapesInAFile) { EXPECT_FALSE(StyleOf({Path("x"), false}).colour); }

}  // namespace
}  // namespace memprof

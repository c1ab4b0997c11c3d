#include "cli/web/source_lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace memprof {
namespace {

constexpr int64_t kAnyTime = std::numeric_limits<int64_t>::max();

class SourceLinesTest : public testing::Test {
 protected:
  SourceLinesTest() {
    char name[] = "/tmp/source_lines_test.XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~SourceLinesTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string file = directory_ + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  std::string directory_;
};

TEST_F(SourceLinesTest, GivesALineWithoutTheSpaceAroundIt) {
  const std::string file = Write("a.cc", "int main() {\n\t  return Run( );\r\n\n}");
  SourceLines lines(kAnyTime);
  EXPECT_EQ(lines.Text(file, 1), "int main() {");
  EXPECT_EQ(lines.Text(file, 2), "return Run( );");
  EXPECT_EQ(lines.Text(file, 3), "");
  EXPECT_EQ(lines.Text(file, 4), "}");
  EXPECT_EQ(lines.Text(file, 5), "");
  EXPECT_EQ(lines.Text(file, 0), "");
  EXPECT_EQ(lines.Text(file + ".none.cc", 1), "");
  EXPECT_EQ(lines.Text("", 1), "");
}

TEST_F(SourceLinesTest, DoesNotReadWhatIsNotCalledLikeSource) {
  SourceLines lines(kAnyTime);
  EXPECT_EQ(lines.Text(Write("secret", "x"), 1), "");
  EXPECT_EQ(lines.Text(Write("secret.pem", "x"), 1), "");
  EXPECT_EQ(lines.Text(Write("a.rs", "x"), 1), "x");
  std::filesystem::create_directory(directory_ + "/b.cc");
  EXPECT_EQ(lines.Text(directory_ + "/b.cc", 1), "");
  ASSERT_EQ(mkfifo((directory_ + "/c.cc").c_str(), 0600), 0);
  EXPECT_EQ(lines.Text(directory_ + "/c.cc", 1), "");
}

// Whoever is profiled may put links where the page's writer follows them.
TEST_F(SourceLinesTest, DoesNotReadWhatALinkLeadsTo) {
  const std::string secret = Write("secret", "x");
  const std::string source = Write("a.cc", "x");
  std::filesystem::create_symlink(secret, directory_ + "/link.cc");
  std::filesystem::create_symlink(source, directory_ + "/other.cc");
  SourceLines lines(kAnyTime);
  EXPECT_EQ(lines.Text(directory_ + "/link.cc", 1), "");
  EXPECT_EQ(lines.Text(directory_ + "/other.cc", 1), "x");
}

TEST_F(SourceLinesTest, DoesNotShowWhatWasChangedAfterTheRun) {
  const std::string file = Write("a.c", "x");
  struct timespec times[2] = {{1000, 0}, {1000, 5'000'000}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  EXPECT_EQ(SourceLines(1'000'004).Text(file, 1), "");
  EXPECT_EQ(SourceLines(1'000'005).Text(file, 1), "x");
}

TEST_F(SourceLinesTest, CutsALongLineBetweenCharacters) {
  const std::string file = Write(
      "a.c", "x" + std::string(100, ' ') + [] {
        std::string text;
        for (int i = 0; i < 40; ++i) text += "ü";
        return text;
      }());
  const std::string text = SourceLines(kAnyTime).Text(file, 1);
  EXPECT_EQ(text.substr(text.size() - 5), "ü…");
  EXPECT_LE(text.size(), SourceLines::kMaxLineBytes + 3);
}

TEST_F(SourceLinesTest, LeavesHugeFilesAlone) {
  const std::string file = Write("a.c", "x");
  std::filesystem::resize_file(file, SourceLines::kMaxFileBytes + 1);
  EXPECT_EQ(SourceLines(kAnyTime).Text(file, 1), "");
}

}  // namespace
}  // namespace memprof

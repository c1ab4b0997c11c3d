#include "cli/reports/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "formats/capture_writer.h"

namespace memprof {
namespace {

Snapshot OneSite() {
  Snapshot snapshot;
  snapshot.program.program = "demo";
  snapshot.frames = {{kNoModule, kPcNoStack}};
  snapshot.nodes = {{}, {0, 0}};
  snapshot.thread_names = {"main"};
  snapshot.sites = {{1, 0, {10, 1}, {20, 2}, {30, 3}}};
  return snapshot;
}

class Load : public testing::Test {
 protected:
  Load() {
    char name[] = "/tmp/memprof-load-XXXXXX";
    directory_ = mkdtemp(name);
    file_ = directory_ + "/x.memprof";
  }
  ~Load() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& bytes) { std::ofstream(file_, std::ios::binary) << bytes; }

  std::string directory_, file_;
};

TEST_F(Load, GivesTheFiguresOfACapture) {
  Write(EncodeCapture(OneSite()));
  const auto profile = LoadProfile(file_);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->program.program, "demo");
  EXPECT_EQ(profile->peak, (Count{10, 1}));
  EXPECT_EQ(profile->leaked, (Count{20, 2}));
  EXPECT_EQ(profile->total, (Count{30, 3}));
  EXPECT_TRUE(profile->damage.empty());
}

TEST_F(Load, GivesTheSameFiguresWithoutNames) {
  Write(EncodeCapture(OneSite()));
  const auto figures = LoadFigures({file_});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->peak, (Count{10, 1}));
  EXPECT_EQ(figures->leaked, (Count{20, 2}));
  EXPECT_EQ(figures->total, (Count{30, 3}));
  EXPECT_EQ(figures->sites.size(), 1u);
}

TEST_F(Load, KeepsWhatIsSaidOfADamagedCapture) {
  std::string bytes = EncodeCapture(OneSite());
  bytes.resize(bytes.size() - 1);
  Write(bytes);
  testing::internal::CaptureStderr();
  const auto profile = LoadProfile(file_);
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->peak, (Count{10, 1}));
  ASSERT_FALSE(profile->damage.empty());
  EXPECT_TRUE(said.starts_with("memprof: " + file_)) << said;
}

TEST_F(Load, RefusesInOneLineThatNamesTheFile) {
  for (const char* content : {"", "MEMPROFC", "#!/bin/sh\n"}) {
    Write(content);
    const auto profile = LoadProfile(file_);
    ASSERT_FALSE(profile) << content;
    EXPECT_EQ(profile.error().kind, ErrorKind::kUnreadable);
    EXPECT_TRUE(profile.error().message.starts_with(file_));
    EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
  }
  for (const std::string& name : {directory_, directory_ + "/nowhere"}) {
    const auto profile = LoadProfile(name);
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().kind, ErrorKind::kUnreadable);
    EXPECT_TRUE(profile.error().message.starts_with(name));
  }
}

}  // namespace
}  // namespace memprof

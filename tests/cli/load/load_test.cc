#include "cli/load/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/snapshot/snapshot_merger.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"

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
  Write(EncodeCapture(Canonical(OneSite())));
  const auto profile = LoadProfile(file_);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->program.program, "demo");
  EXPECT_EQ(profile->peak, (Count{10, 1}));
  EXPECT_EQ(profile->leaked, (Count{20, 2}));
  EXPECT_EQ(profile->total, (Count{30, 3}));
  EXPECT_TRUE(profile->damage.empty());
}

TEST_F(Load, GivesTheSameFiguresWithoutNames) {
  Write(EncodeCapture(Canonical(OneSite())));
  const auto figures = LoadFigures({{file_}});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->peak, (Count{10, 1}));
  EXPECT_EQ(figures->leaked, (Count{20, 2}));
  EXPECT_EQ(figures->total, (Count{30, 3}));
  EXPECT_EQ(figures->sites.size(), 1u);
}

TEST_F(Load, KeepsWhatIsSaidOfADamagedCapture) {
  std::string bytes = EncodeCapture(Canonical(OneSite()));
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

// Two processes, with figures of the second that are twice those of the first.
std::string MergeOfTwo() {
  SnapshotMerger merger;
  for (uint32_t run = 1; run <= 2; ++run) {
    Snapshot one = OneSite();
    one.program.pid = 100 + run;
    one.program.run_id = run;
    one.sites[0].peak.bytes *= run;
    EXPECT_TRUE(merger.Add(std::move(one), 1));
  }
  return EncodeCapture(merger.Take());
}

TEST_F(Load, GivesTheFiguresOfAProcessOfAMerge) {
  Write(MergeOfTwo());
  const auto profile = LoadProfile(Captures{{file_}, {{"102"}}});
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->program.pid, 102u);
  EXPECT_EQ(profile->peak, (Count{20, 1}));
  EXPECT_TRUE(profile->sources.empty());
  ASSERT_TRUE(profile->chosen_processes);
  EXPECT_EQ(profile->chosen_processes->shown, 1u);
  EXPECT_EQ(profile->chosen_processes->all, 2u);
}

TEST_F(Load, LeavesOutCapturesWithoutTheProcess) {
  Write(MergeOfTwo());
  const std::string other = directory_ + "/other.memprof";
  Snapshot single = OneSite();
  single.program.program = "other";
  single.program.pid = 7;
  std::ofstream(other, std::ios::binary) << EncodeCapture(Canonical(single));
  const auto figures = LoadFigures({{file_, other}, {{"other", "101"}}});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->peak, (Count{20, 2}));
  EXPECT_EQ(figures->sources.size(), 2u);
  EXPECT_EQ(figures->chosen_processes->all, 3u);
  const auto alone = LoadFigures({{file_, other}, {{"oth*"}}});
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->program.pid, 7u);
  EXPECT_FALSE(alone->chosen_processes->figures_only);
}

TEST_F(Load, ShowsFiguresOnlyWhereOneOfTheCapturesHasNoMoreOfAProcess) {
  Write(MergeOfTwo());
  const std::string other = directory_ + "/other.memprof";
  Snapshot single = OneSite();
  single.program.pid = 7;
  single.program.run_id = 9;
  single.timeline.points = {{5, 10, 0}};
  single.mappings.followed = true;
  std::ofstream(other, std::ios::binary) << EncodeCapture(Canonical(single));
  const auto figures = LoadFigures({{file_, other}, {{"101", "7"}}});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->peak, (Count{20, 2}));
  EXPECT_TRUE(figures->chosen_processes->figures_only);
  EXPECT_TRUE(figures->timeline.points.empty());
  EXPECT_FALSE(figures->mappings.followed);
}

TEST_F(Load, LeavesOutAMergeThatDoesNotKnowTheProcess) {
  auto merge = DecodeCapture(MergeOfTwo());
  ASSERT_TRUE(merge);
  merge->snapshot.processes.clear();
  Write(EncodeCapture(Canonical(merge->snapshot)));
  const auto alone = LoadFigures({{file_}, {{"101"}}});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().kind, ErrorKind::kUnreadable);
  const std::string own = directory_ + "/own.memprof";
  Snapshot single = OneSite();
  single.program.pid = 101;
  std::ofstream(own, std::ios::binary) << EncodeCapture(Canonical(single));
  const auto figures = LoadFigures({{file_, own}, {{"101"}}});
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->peak, (Count{10, 1}));
  EXPECT_EQ(figures->chosen_processes->without_rows, 1u);
}

TEST_F(Load, ListsProcessesWithoutTheirControlCharacters) {
  Snapshot single = OneSite();
  single.program.program = "ev\033[31mil\nx";
  Write(EncodeCapture(Canonical(single)));
  const auto profile = LoadProfile(Captures{{file_}, {{"nobody"}}});
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().message.find_first_of("\033\n"), std::string::npos);
}

TEST_F(Load, ListsTheProcessesWhereNoneIsThatIsAskedFor) {
  Write(MergeOfTwo());
  const auto profile = LoadProfile(Captures{{file_}, {{"nobody"}}});
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(profile.error().message, file_ + ": no process is nobody; there are demo (101 102)");
  for (const char* moment : {"@10s", "@warm"}) {
    const auto then = LoadProfile(Captures{{file_ + moment}, {{"101"}}});
    ASSERT_FALSE(then);
    EXPECT_EQ(then.error().kind, ErrorKind::kUsage);
    EXPECT_NE(then.error().message.find("not kept by process"), std::string::npos);
  }
  EXPECT_TRUE(LoadProfile(Captures{{file_ + "@end"}, {{"101"}}}));
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

#include "cli/supervisor/supervisor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>

#include "cli/preflight/inner_jemalloc_cache.h"
#include "cli/supervisor/processes/child.h"
#include "cli/supervisor/processes/child_program.h"
#include "core/region/region_reader.h"
#include "formats/capture/capture_reader.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;

Snapshot ReadCapture(const std::string& file) {
  const auto bytes = ReadWholeFile(file);
  if (!bytes) return {};
  const auto content = DecodeCapture(*bytes);
  return content ? content->snapshot : Snapshot();
}

// Runs fake_tracked under a Supervisor.
class SupervisorTest : public testing::Test {
 protected:
  RunOutcome Run(std::vector<std::string> words) {
    Start(std::move(words));
    return supervisor_->Run();
  }

  void Start(std::vector<std::string> words) {
    directory_ = std::make_unique<PrivateDirectory>(std::move(*PrivateDirectory::Make()));
    socket_ = std::make_unique<TrackerSocket>(std::move(*TrackerSocket::Open(*directory_)));
    control_ = std::make_unique<ControlSocket>(std::move(*ControlSocket::Open(*directory_)));
    words.insert(words.begin(), "fake");
    auto child = Child::Fork(
        {FAKE_TRACKED, words, EnvironmentWith("", socket_->path()), signals_.inherited()});
    ASSERT_TRUE(child);
    auto region = options_.region.empty() ? RegionFile::InMemory()
                                          : RegionFile::InFile(options_.region, false);
    ASSERT_TRUE(region) << region.error().message;
    pid_ = child->pid();
    options_.program = "fake";
    options_.output = files_ / "x.memprof";
    program_ = std::make_unique<ChildProgram>(pid_);
    supervisor_ = std::make_unique<Supervisor>(options_, signals_, *socket_, *control_, jemallocs_,
                                               *program_, std::move(*region));
    ASSERT_EQ(child->Start(), 0);
  }

  TemporaryDirectory files_;
  Signals signals_;
  SupervisorOptions options_;
  std::unique_ptr<PrivateDirectory> directory_;
  std::unique_ptr<ChildProgram> program_;
  std::unique_ptr<TrackerSocket> socket_;
  std::unique_ptr<ControlSocket> control_;
  InnerJemallocCache jemallocs_;
  std::unique_ptr<Supervisor> supervisor_;
  pid_t pid_ = 0;
};

TEST_F(SupervisorTest, WritesTheCaptureOfAProgramThatExits) {
  const RunOutcome outcome = Run({"connect", "allocate", "100", "allocate", "50", "exit", "3"});
  EXPECT_FALSE(outcome.signalled);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.executed_images, 0);
  const Snapshot capture = ReadCapture(options_.output);
  EXPECT_EQ(SumLeaked(capture), (Count{150, 2}));
  EXPECT_EQ(SumPeak(capture), (Count{150, 2}));
  EXPECT_EQ(capture.program.program, "fake");
  EXPECT_EQ(capture.program.pid, static_cast<uint32_t>(pid_));
  EXPECT_EQ(capture.program.end_kind, EndKind::kExit);
  EXPECT_EQ(capture.program.end_code, 3u);
  const std::vector<std::string> command = {"fake",     "connect", "allocate", "100",
                                            "allocate", "50",      "exit",     "3"};
  EXPECT_EQ(capture.program.command, command);
}

TEST_F(SupervisorTest, WritesTheCaptureOfAProgramThatIsKilled) {
  const RunOutcome outcome = Run({"connect", "allocate", "100", "raise", std::to_string(SIGKILL)});
  EXPECT_TRUE(outcome.signalled);
  EXPECT_EQ(outcome.code, SIGKILL);
  const Snapshot capture = ReadCapture(options_.output);
  EXPECT_EQ(SumLeaked(capture), (Count{100, 1}));
  EXPECT_EQ(capture.program.end_kind, EndKind::kSignal);
  EXPECT_EQ(capture.program.end_code, static_cast<uint32_t>(SIGKILL));
}

TEST_F(SupervisorTest, LeavesNoCaptureWhereNoTrackerCame) {
  const RunOutcome outcome = Run({"exit", "0"});
  EXPECT_FALSE(outcome.written);
  EXPECT_FALSE(std::filesystem::exists(options_.output));
}

TEST_F(SupervisorTest, LeavesNoCaptureWhereTheTrackerGaveUp) {
  Start({"hello", "exit", "0"});
  // It has gone before we look.
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
  const RunOutcome outcome = supervisor_->Run();
  EXPECT_EQ(outcome.late_trackers, 1);
  EXPECT_FALSE(outcome.written);
  EXPECT_FALSE(std::filesystem::exists(options_.output));
}

TEST_F(SupervisorTest, KeepsEachImageOfAProgramThatExecutesOthers) {
  const RunOutcome outcome = Run({"connect", "allocate", "1", "exec", "connect", "allocate", "2",
                                  "exec", "connect", "allocate", "3", "exit", "4"});
  EXPECT_EQ(outcome.executed_images, 2);
  EXPECT_EQ(outcome.executed_without_capture, 0);
  const Snapshot first = ReadCapture(files_ / "x.exec1.memprof");
  const Snapshot second = ReadCapture(files_ / "x.exec2.memprof");
  const Snapshot last = ReadCapture(options_.output);
  EXPECT_EQ(SumLeaked(first).bytes, 1u);
  EXPECT_EQ(SumLeaked(second).bytes, 2u);
  EXPECT_EQ(SumLeaked(last).bytes, 3u);
  EXPECT_EQ(first.program.end_kind, EndKind::kExec);
  EXPECT_EQ(second.program.end_kind, EndKind::kExec);
  EXPECT_EQ(last.program.end_kind, EndKind::kExit);
  EXPECT_EQ(last.program.end_code, 4u);
}

TEST_F(SupervisorTest, OverwritesNoEarlierImagesUnlessTold) {
  const std::string old = files_.Write("x.exec1.memprof", "old");
  Run({"connect", "allocate", "1", "exec", "connect", "exit", "0"});
  EXPECT_EQ(std::filesystem::file_size(old), 3u);
  EXPECT_EQ(SumLeaked(ReadCapture(files_ / "x.exec2.memprof")).bytes, 1u);
}

TEST_F(SupervisorTest, FillsNoDirectoryWithImagesOfAProgramThatExecutesForEver) {
  std::vector<std::string> words;
  for (int i = 0; i < kMaxExecutedImages + 3; ++i) {
    for (const char* word : {"connect", "allocate", "1", "exec"}) words.emplace_back(word);
  }
  for (const char* word : {"connect", "exit", "0"}) words.emplace_back(word);
  const RunOutcome outcome = Run(words);
  EXPECT_EQ(outcome.executed_images, kMaxExecutedImages + 3);
  EXPECT_EQ(outcome.executed_without_capture, 3);
  const auto captures = std::distance(std::filesystem::directory_iterator(files_.path()), {});
  EXPECT_EQ(captures, kMaxExecutedImages + 1);
}

TEST_F(SupervisorTest, SaysWhereTheProgramLeftItsTracker) {
  const RunOutcome outcome = Run({"connect", "allocate", "1", "exec-quietly", "exit", "0"});
  EXPECT_EQ(outcome.untracked_image, "fake");
  EXPECT_EQ(ReadCapture(options_.output).program.end_kind, EndKind::kExec);
}

TEST_F(SupervisorTest, TakesNoNewNameForAnExec) {
  const RunOutcome outcome =
      Run({"connect", "allocate", "1", "name", "other", "sleep", "1000", "exit", "0"});
  EXPECT_EQ(outcome.untracked_image, "");
  EXPECT_EQ(ReadCapture(options_.output).program.end_kind, EndKind::kExit);
}

TEST_F(SupervisorTest, SendsDescendantsAwayAndCountsThem) {
  const RunOutcome outcome =
      Run({"connect", "allocate", "1", "child", "connect", "refused?", "exit", "0"});
  EXPECT_EQ(outcome.code, 0);  // 9: it was not refused
  EXPECT_EQ(outcome.descendants, 1);
  EXPECT_EQ(SumLeaked(ReadCapture(options_.output)).bytes, 1u);
}

TEST_F(SupervisorTest, ForwardsASignalThatAProcessSent) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const int before = dup(STDOUT_FILENO);
  dup2(fds[1], STDOUT_FILENO);
  Start({"connect", "expect", std::to_string(SIGUSR2), "exit", "0"});
  dup2(before, STDOUT_FILENO);
  const pid_t self = getpid();
  // Not this process's own: those are not forwarded.
  const pid_t sender = fork();
  if (sender == 0) {
    char byte;
    (void)!read(fds[0], &byte, 1);  // it waits for the signal
    kill(self, SIGUSR2);
    _exit(0);
  }
  const RunOutcome outcome = supervisor_->Run();
  waitpid(sender, nullptr, 0);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_FALSE(outcome.signalled);
  for (const int fd : {fds[0], fds[1], before}) close(fd);
}

TEST_F(SupervisorTest, WritesCheckpointsWhileTheProgramRuns) {
  options_.checkpoint = milliseconds(100);
  Start({"connect", "allocate", "100", "sleep", "20000", "exit", "0"});
  RunOutcome outcome;
  std::thread running([&] { outcome = supervisor_->Run(); });
  Snapshot seen;
  for (int i = 0; i < 500 && seen.sites.empty(); ++i) {
    usleep(20 * 1000);
    seen = ReadCapture(options_.output);
  }
  kill(pid_, SIGKILL);
  running.join();
  EXPECT_EQ(SumLeaked(seen).bytes, 100u);
  EXPECT_EQ(seen.program.end_kind, EndKind::kCut);
  EXPECT_EQ(ReadCapture(options_.output).program.end_kind, EndKind::kSignal);
  EXPECT_GT(outcome.checkpoints, 0);
}

TEST_F(SupervisorTest, SaysOnceThatMetricsCanNotBeWritten) {
  options_.checkpoint = milliseconds(100);
  options_.metrics = files_ / "nowhere/m.prom";
  testing::internal::CaptureStderr();
  const RunOutcome outcome = Run({"connect", "allocate", "100", "sleep", "600", "exit", "0"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_GT(outcome.checkpoints, 0);
  const size_t first = said.find("metrics: ");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("metrics: ", first + 1), std::string::npos) << said;
}

TEST_F(SupervisorTest, TellsWhenThePeakWas) {
  Run({"connect", "allocate", "100", "sleep", "600", "allocate", "1", "finish", "exit", "0"});
  const SnapshotProgram program = ReadCapture(options_.output).program;
  EXPECT_GE(program.duration_ms, 600u);
  EXPECT_GE(program.peak_time_ms, 590u);
  EXPECT_LE(program.peak_time_ms, program.duration_ms);
  EXPECT_GT(program.peak_time_resolution_ms, 0u);
  EXPECT_GT(program.rss_peak_bytes, 0u);
}

TEST_F(SupervisorTest, KeepsTheRegionInTheFileThatWasNamed) {
  options_.region = files_ / "x.region";
  Run({"connect", "allocate", "100", "exec", "connect", "allocate", "7", "exit", "0"});
  const int fd = open(options_.region.c_str(), O_RDONLY);
  const Result<Snapshot> last = ReadRegion(fd, {});
  close(fd);
  ASSERT_TRUE(last);
  EXPECT_EQ(SumLeaked(*last).bytes, 7u);
  EXPECT_EQ(SumLeaked(ReadCapture(files_ / "x.exec1.memprof")).bytes, 100u);
}

TEST_F(SupervisorTest, SaysWhyTheCaptureIsNotWritten) {
  Start({"connect", "allocate", "100", "exit", "0"});
  std::filesystem::create_directory(options_.output);
  const RunOutcome outcome = supervisor_->Run();
  EXPECT_FALSE(outcome.written);
  EXPECT_NE(outcome.write_error, "");
}

}  // namespace
}  // namespace memprof

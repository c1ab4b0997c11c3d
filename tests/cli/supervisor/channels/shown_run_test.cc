#include "cli/supervisor/channels/shown_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/supervisor/images/region_file.h"
#include "core/region/region_reader.h"

namespace memprof {
namespace {

class ShownRunTest : public testing::Test {
 protected:
  // Asks, and has the request answered with `run`.
  std::optional<ShownRun> Ask(const ShownRun& run) {
    auto asked = std::async(std::launch::async, [this] {
      ControlRequest request;
      request.action = ControlAction::kShow;
      return AskForRun(directory_.path(), geteuid(), request);
    });
    std::optional<ControlSocket::Visitor> visitor;
    for (int i = 0; i < 10'000 && !visitor; ++i) {
      visitor = socket_.Accept();
      if (!visitor) usleep(1000);
    }
    if (visitor && ControlSocket::Promise(visitor->fd)) AnswerWithRun(visitor->fd, run);
    return asked.get();
  }

  PrivateDirectory directory_ = std::move(*PrivateDirectory::Make());
  ControlSocket socket_ = std::move(*ControlSocket::Open(directory_));
};

TEST_F(ShownRunTest, BringsRegionsThatCanBeReadAndNotWritten) {
  const RegionFile region = std::move(*RegionFile::InMemory());
  ShownRun run;
  run.supervisor = 11;
  run.program = 12;
  run.capture = "/x/y.memprof";
  run.living = 3;
  run.processes = {{12, "demo", 1'700'000'000'000, region.place()}};
  const auto got = Ask(run);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->supervisor, 11);
  EXPECT_EQ(got->program, 12);
  EXPECT_EQ(got->capture, "/x/y.memprof");
  EXPECT_EQ(got->living, 3u);
  ASSERT_EQ(got->processes.size(), 1u);
  EXPECT_EQ(got->processes[0].pid, 12);
  EXPECT_EQ(got->processes[0].program, "demo");
  EXPECT_EQ(got->processes[0].start_unix_ms, 1'700'000'000'000);
  EXPECT_TRUE(ReadPeak(got->processes[0].region));
  EXPECT_LT(write(got->processes[0].region.fd, "x", 1), 0);
}

TEST_F(ShownRunTest, IsOfAtMostSoManyProcesses) {
  const RegionFile region = std::move(*RegionFile::InMemory());
  ShownRun run;
  for (int i = 1; i <= 500; ++i) run.processes.push_back({i, "demo", 0, region.place()});
  const auto got = Ask(run);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->processes.size(), kMostShownProcesses);
  EXPECT_EQ(got->processes.back().pid, static_cast<pid_t>(kMostShownProcesses));
}

TEST_F(ShownRunTest, MayHaveNoProcessYet) {
  const auto got = Ask({});
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->processes.empty());
}

TEST_F(ShownRunTest, IsNoneWhereNobodyListens) {
  EXPECT_FALSE(AskForRun(directory_.path() + "/nowhere", geteuid(), {}));
}

// A listener of this user may say anything.
TEST_F(ShownRunTest, OfAListenerThatStopsInTheMiddleHasWhatCame) {
  auto asked = std::async(std::launch::async,
                          [this] { return AskForRun(directory_.path(), geteuid(), {}); });
  std::optional<ControlSocket::Visitor> visitor;
  for (int i = 0; i < 10'000 && !visitor; ++i) {
    visitor = socket_.Accept();
    if (!visitor) usleep(1000);
  }
  ASSERT_TRUE(visitor);
  ASSERT_TRUE(ControlSocket::Promise(visitor->fd));
  ControlReply reply;
  reply.status = ControlStatus::kTaken;
  ControlSocket::Answer(visitor->fd, reply);
  EXPECT_FALSE(asked.get());
}

}  // namespace
}  // namespace memprof

#include "cli/supervisor/run_snapshots.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <future>

#include "cli/basics/output_name.h"
#include "core/protocol/region_layout.h"
#include "formats/capture_reader.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

using std::chrono::steady_clock;

constexpr uint32_t kProgram = 4711;

class RunSnapshotsTest : public testing::Test {
 protected:
  // As if a tracker had connected.
  void Attach() {
    const auto state = static_cast<uint32_t>(TrackerState::kCounting);
    ASSERT_EQ(pwrite(image_.region().fd, &state, sizeof state, offsetof(RegionHeader, state)),
              static_cast<ssize_t>(sizeof state));
    ASSERT_TRUE(image_.Attached());
  }

  // Another process asks, and its request has arrived.
  std::future<ControlReply> Asked(const char* name) {
    auto asked = std::async(std::launch::async, [this, name] {
      ControlRequest request;
      request.pid = kProgram;
      SetText(request.name, name);
      return AskSupervisor(directory_.path(), geteuid(), request, std::chrono::seconds(10));
    });
    for (int i = 0; i < 10'000 && !image_.snapshots().Busy(); ++i) {
      snapshots_.OnRequests(&image_);
      usleep(1000);
    }
    EXPECT_TRUE(image_.snapshots().Busy());
    return asked;
  }

  TemporaryDirectory files_;
  const std::string output_ = files_ / "x.memprof";
  PrivateDirectory directory_ = std::move(*PrivateDirectory::Make());
  ControlSocket control_ = std::move(*ControlSocket::Open(directory_));
  RunSnapshots snapshots_{{}, control_, output_, "", true, kProgram};
  Image image_{std::move(*RegionFile::InMemory()), getpid(), "demo"};
  ExecutedImages executed_{output_, false};
};

TEST_F(RunSnapshotsTest, OneOfAnImageBeforeAnExecIsToldOfWhenItsOwnCaptureHasIt) {
  Attach();
  auto asked = Asked("before");
  snapshots_.FinishImage(image_);
  snapshots_.ImageExecuted(executed_.Add(image_));
  EXPECT_TRUE(snapshots_.AreAwaited());
  executed_.Finish();
  snapshots_.AnswerExecuted(executed_);
  EXPECT_FALSE(snapshots_.AreAwaited());
  const ControlReply reply = asked.get();
  ASSERT_EQ(reply.status, ControlStatus::kTaken) << TextOf(reply.text);
  EXPECT_EQ(reply.place, ControlPlace::kInCapture);
  EXPECT_EQ(TextOf(reply.text), CanonicalName(files_ / "x.exec1.memprof"));
  const auto bytes = ReadWholeFile(TextOf(reply.text));
  ASSERT_TRUE(bytes);
  const auto content = DecodeCapture(*bytes);
  ASSERT_TRUE(content);
  ASSERT_EQ(content->snapshot.named.taken.size(), 1u);
  EXPECT_EQ(content->snapshot.named.taken[0].name, "before");
}

TEST_F(RunSnapshotsTest, OneOfAnImageWithoutACaptureIsNotToldAsTaken) {
  Attach();
  auto asked = Asked("before");
  snapshots_.FinishImage(image_);
  snapshots_.ImageExecuted("");
  snapshots_.AnswerExecuted(executed_);
  EXPECT_EQ(asked.get().status, ControlStatus::kFailed);
}

TEST_F(RunSnapshotsTest, NothingIsDueWhereNoTrackerCounts) {
  image_.snapshots().Ask({});  // by a signal that came early
  EXPECT_EQ(snapshots_.NextLook(&image_), steady_clock::time_point::max());
  Attach();
  EXPECT_LT(snapshots_.NextLook(&image_), steady_clock::time_point::max());
}

}  // namespace
}  // namespace memprof

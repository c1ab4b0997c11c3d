#include "cli/supervisor/run_named_moments.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <future>

#include "cli/basics/output_name.h"
#include "core/protocol/region_layout.h"
#include "formats/capture/capture_reader.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

using std::chrono::steady_clock;

constexpr uint32_t kProgram = 4711;

class RunNamedMomentsTest : public testing::Test {
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
    for (int i = 0; i < 10'000 && !image_.named_moments().Busy(); ++i) {
      named_moments_.OnRequests(&image_);
      usleep(1000);
    }
    EXPECT_TRUE(image_.named_moments().Busy());
    return asked;
  }

  TemporaryDirectory files_;
  const std::string output_ = files_ / "x.memprof";
  PrivateDirectory directory_ = std::move(*PrivateDirectory::Make());
  ControlSocket control_ = std::move(*ControlSocket::Open(directory_));
  RunNamedMoments named_moments_{{}, control_, output_, "", true, kProgram};
  Image image_{std::move(*RegionFile::InMemory()), getpid(), "demo"};
  ExecutedImages executed_{output_, false};
};

TEST_F(RunNamedMomentsTest, OneOfAnImageBeforeAnExecIsToldOfWhenItsOwnCaptureHasIt) {
  Attach();
  auto asked = Asked("before");
  named_moments_.FinishImage(image_);
  named_moments_.ImageExecuted(executed_.Add(image_));
  EXPECT_TRUE(named_moments_.AreAwaited());
  executed_.Finish();
  named_moments_.AnswerExecuted(executed_);
  EXPECT_FALSE(named_moments_.AreAwaited());
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

TEST_F(RunNamedMomentsTest, OneOfAnImageWithoutACaptureIsNotToldAsTaken) {
  Attach();
  auto asked = Asked("before");
  named_moments_.FinishImage(image_);
  named_moments_.ImageExecuted("");
  named_moments_.AnswerExecuted(executed_);
  EXPECT_EQ(asked.get().status, ControlStatus::kFailed);
}

TEST_F(RunNamedMomentsTest, NothingIsDueWhereNoTrackerCounts) {
  image_.named_moments().Ask({});  // by a signal that came early
  EXPECT_EQ(named_moments_.NextLook(&image_), steady_clock::time_point::max());
  Attach();
  EXPECT_LT(named_moments_.NextLook(&image_), steady_clock::time_point::max());
}

}  // namespace
}  // namespace memprof

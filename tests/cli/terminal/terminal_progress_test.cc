#include "cli/terminal/terminal_progress.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(TerminalProgress, SaysWhatIsDoneAndHowMuchThereIs) {
  EXPECT_EQ(ProgressText({"libc.so.6", true, 0, 0}), "asking for debug info of libc.so.6");
  EXPECT_EQ(ProgressText({"libc.so.6", true, 3 << 20, 5 << 20}),
            "downloading debug info of libc.so.6: 3.0 MiB of 5.0 MiB");
  EXPECT_EQ(ProgressText({"redis", false, 0, 0}), "reading symbols of redis");
  EXPECT_EQ(ProgressText({"redis", false, 2560, 10000}), "resolving redis: 2,560 of 10,000 frames");
}

TEST(TerminalProgress, LetsNoNameDriveTheTerminal) {
  EXPECT_EQ(ProgressText({"a\x1b[2Jb\n\xff", false, 0, 0}), "reading symbols of a?[2Jb??");
  EXPECT_LT(ProgressText({std::string(4000, 'x'), false, 0, 0}).size(), 80u);
}

TEST(TerminalProgress, SaysNothingOfWhatIsDoneAtOnce) {
  testing::internal::CaptureStderr();
  {
    TerminalProgress progress;
    for (uint64_t i = 0; i < 100; ++i) progress.Show({"x", false, i, 100});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace memprof

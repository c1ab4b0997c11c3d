#include "cli/supervisor/control_texts.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/printable.h"

namespace memprof {
namespace {

using std::string_literals::operator""s;

TEST(ControlTexts, NameOnlyADirectoryThatASupervisorMakes) {
  const auto in = [](const std::string& socket) {
    return DirectoryInEnvironment("A=b\0MEMPROF_SOCKET="s + socket + "\0C=d\0"s);
  };
  EXPECT_EQ(in("/tmp/memprof-a1B2c3/tracker"), "/tmp/memprof-a1B2c3");
  for (const char* other : {"", "tracker", "tmp/memprof-a/tracker", "/tmp/memprof-a/control",
                            "/tmp/other/tracker", "/tmp/memprof-a/../memprof-b/tracker",
                            "/tmp//memprof-a/tracker", "/tmp/memprof-a/tracker/"}) {
    EXPECT_FALSE(in(other)) << other;
  }
  EXPECT_FALSE(DirectoryInEnvironment("HOME=/"));
}

TEST(ControlTexts, TakeNothingOfAnAttachedProcessThatCantBe) {
  AttachState state = {};
  SetText(state.socket, "/tmp/memprof-a1B2c3/tracker");
  state.tls_bytes = 4096;
  EXPECT_EQ(DirectoryOf(state), "/tmp/memprof-a1B2c3");
  EXPECT_EQ(ThreadBytesOf(state), 4096u);
  std::memset(state.socket, '/', sizeof state.socket);
  state.tls_bytes = uint64_t{1} << 62;
  EXPECT_FALSE(DirectoryOf(state));
  EXPECT_FALSE(ThreadBytesOf(state));
}

TEST(ControlTexts, DriveNoTerminal) {
  ControlReply reply;
  reply.time_ms = 1500;
  SetText(reply.name, "\x1b]0;title\x07\n");
  SetText(reply.text,
          "/tmp/x\xc2\x9b"
          "2J;rm.memprof");
  for (const ControlPlace place :
       {ControlPlace::kInCapture, ControlPlace::kAtEnd, ControlPlace::kCaptureOfOwn}) {
    reply.place = place;
    EXPECT_EQ(Printable(TextOfNamedMoment(reply)), TextOfNamedMoment(reply));
  }
  EXPECT_EQ(CaptureOfDetached(reply), "'/tmp/x?2J;rm.memprof'");
}

}  // namespace
}  // namespace memprof

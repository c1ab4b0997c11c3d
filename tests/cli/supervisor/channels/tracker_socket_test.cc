#include "cli/supervisor/channels/tracker_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>

#include "cli/supervisor/channels/preload.h"
#include "cli/supervisor/channels/stale_directories.h"
#include "core/protocol/handshake.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

class TrackerSocketTest : public testing::Test {
 protected:
  TrackerSocketTest()
      : directory_(std::move(*PrivateDirectory::Make())),
        socket_(std::move(*TrackerSocket::Open(directory_))) {}

  int Connect(const void* hello, size_t bytes) {
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_.path().c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    if (bytes != 0) {
      EXPECT_EQ(send(fd, hello, bytes, 0), static_cast<ssize_t>(bytes));
    }
    return fd;
  }

  PrivateDirectory directory_;
  TrackerSocket socket_;
};

constexpr Hello kHello = {kHandshakeVersion, 1};

TEST_F(TrackerSocketTest, HasNoVisitorWhereNoneConnected) { EXPECT_FALSE(socket_.Accept()); }

TEST_F(TrackerSocketTest, KnowsWhoConnectsByTheKernelsWord) {
  const int fd = Connect(&kHello, sizeof kHello);  // says that it is process 1
  const auto visitor = socket_.Accept();
  ASSERT_TRUE(visitor);
  EXPECT_EQ(visitor->pid, getpid());
  socket_.SendAway(*visitor);
  close(fd);
}

TEST_F(TrackerSocketTest, SendsAwayWithoutARegion) {
  const int fd = Connect(&kHello, sizeof kHello);
  socket_.SendAway(*socket_.Accept());
  Welcome welcome = {};
  ASSERT_EQ(recv(fd, &welcome, sizeof welcome, 0), static_cast<ssize_t>(sizeof welcome));
  EXPECT_EQ(welcome.version, kHandshakeVersion);
  EXPECT_EQ(welcome.accepted, 0u);
  close(fd);
}

TEST_F(TrackerSocketTest, NoticesATrackerThatGaveUp) {
  close(Connect(&kHello, sizeof kHello));
  const auto visitor = socket_.Accept();
  ASSERT_TRUE(visitor);
  EXPECT_FALSE(socket_.Admit(*visitor, STDIN_FILENO, 1));
}

TEST_F(TrackerSocketTest, TurnsAwayWhoDoesNotSpeakItsProtocol) {
  const Hello newer = {kHandshakeVersion + 1, 1};
  const int fds[] = {Connect(&newer, sizeof newer), Connect("x", 1), Connect(nullptr, 0)};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(socket_.Accept());
  for (const int fd : fds) close(fd);
  const int fd = Connect(&kHello, sizeof kHello);
  EXPECT_TRUE(socket_.Accept());
  close(fd);
}

TEST(PrivateDirectory, IsItsOwnersAndGoesWithItsFiles) {
  std::string path;
  {
    auto directory = PrivateDirectory::Make();
    ASSERT_TRUE(directory);
    path = directory->path();
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700u);
    EXPECT_EQ(symlink("/x", directory->Hold("link").c_str()), 0);
    const auto socket = TrackerSocket::Open(*directory);
    EXPECT_TRUE(socket);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(StaleDirectories, AreRemovedAndOthersAreNot) {
  const TemporaryDirectory files;
  setenv("XDG_RUNTIME_DIR", files.path().c_str(), 1);
  auto live = PrivateDirectory::Make();
  auto killed = PrivateDirectory::Make();
  auto fresh = PrivateDirectory::Make();  // has no socket yet
  unsetenv("XDG_RUNTIME_DIR");
  ASSERT_TRUE(live && killed && fresh);
  const auto socket = TrackerSocket::Open(*live);
  // The socket's file stays when its listener is gone.
  EXPECT_TRUE(TrackerSocket::Open(*killed));
  for (const char* preload : {kPreloadName, kJemallocPreloadName}) {
    ASSERT_EQ(symlink("/a b", (killed->path() + "/" + preload).c_str()), 0);
  }
  ASSERT_TRUE(killed->path().starts_with(files.path())) << killed->path();
  RemoveStaleDirectories(files.path(), std::chrono::hours(1));
  EXPECT_TRUE(std::filesystem::exists(killed->path()));
  RemoveStaleDirectories(files.path(), std::chrono::seconds(0));
  EXPECT_FALSE(std::filesystem::exists(killed->path()));
  EXPECT_TRUE(std::filesystem::exists(live->path()));
  EXPECT_TRUE(std::filesystem::exists(fresh->path()));
}

TEST(PrivateDirectory, IsShortWhateverTheRuntimeDirectoryIs) {
  const std::string runtime = "/tmp/" + std::string(90, 'x');
  std::filesystem::create_directory(runtime);
  setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  const auto directory = PrivateDirectory::Make();
  unsetenv("XDG_RUNTIME_DIR");
  std::filesystem::remove(runtime);
  ASSERT_TRUE(directory);
  EXPECT_TRUE(directory->path().starts_with("/tmp/memprof-")) << directory->path();
}

}  // namespace
}  // namespace memprof

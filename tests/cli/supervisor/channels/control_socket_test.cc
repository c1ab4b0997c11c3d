#include "cli/supervisor/channels/control_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>

namespace memprof {
namespace {

class ControlSocketTest : public testing::Test {
 protected:
  std::string path() const { return directory_.path() + "/" + kControlSocketName; }
  // Until somebody asks.
  std::optional<ControlSocket::Visitor> Accept() {
    std::optional<ControlSocket::Visitor> visitor;
    for (int i = 0; i < 10'000 && !visitor; ++i) {
      visitor = socket_.Accept();
      if (!visitor) usleep(1000);
    }
    return visitor;
  }

  PrivateDirectory directory_ = std::move(*PrivateDirectory::Make());
  ControlSocket socket_ = std::move(*ControlSocket::Open(directory_));
};

TEST_F(ControlSocketTest, BringsARequestThereAndAReplyBack) {
  auto asked = std::async(std::launch::async, [this] {
    ControlRequest request;
    request.pid = 4711;
    SetText(request.name, "warm");
    return AskSupervisor(directory_.path(), geteuid(), request);
  });
  const auto visitor = Accept();
  ASSERT_TRUE(visitor);
  EXPECT_EQ(visitor->request.pid, 4711u);
  EXPECT_EQ(TextOf(visitor->request.name), "warm");
  ASSERT_TRUE(ControlSocket::Promise(visitor->fd));
  ControlReply reply;
  reply.status = ControlStatus::kTaken;
  SetText(reply.text, std::string(5000, 'x'));
  ControlSocket::Answer(visitor->fd, reply);
  const ControlReply answer = asked.get();
  EXPECT_EQ(answer.status, ControlStatus::kTaken);
  EXPECT_EQ(TextOf(answer.text), std::string(sizeof reply.text - 1, 'x'));
}

TEST_F(ControlSocketTest, TurnsAwayWhoSpeaksAnotherLanguage) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path().copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(send(fd, "hello", 5, 0), 5);
  EXPECT_FALSE(socket_.Accept());
  char byte;
  EXPECT_LE(recv(fd, &byte, 1, 0), 0);
  close(fd);
}

TEST_F(ControlSocketTest, IsNobodyWhereNobodyListens) {
  EXPECT_EQ(AskSupervisor(directory_.path() + "/nothing", geteuid(), {}).status,
            ControlStatus::kNobody);
  EXPECT_EQ(AskSupervisor("/" + std::string(5000, 'x'), geteuid(), {}).status,
            ControlStatus::kNobody);
}

// Another process may have named the place to ask.
TEST_F(ControlSocketTest, AsksNobodyWhereSomebodyElseMayHaveTouchedThePlace) {
  const std::string place = directory_.path();
  const auto ask = [](const std::string& directory, uid_t other) {
    return AskSupervisor(directory, other, {}, std::chrono::milliseconds(1)).status;
  };
  ASSERT_EQ(ask(place, geteuid()), ControlStatus::kSilent);
  const std::string link = place + ".link";
  ASSERT_EQ(symlink(place.c_str(), link.c_str()), 0);
  EXPECT_EQ(ask(link, geteuid()), ControlStatus::kNobody);
  unlink(link.c_str());
  ASSERT_EQ(chmod(place.c_str(), 0722), 0);
  EXPECT_EQ(ask(place, geteuid()), ControlStatus::kNobody);
  ASSERT_EQ(chmod(place.c_str(), 0711), 0);
  EXPECT_EQ(ask(place, geteuid()), ControlStatus::kSilent);
  const std::string moved = directory_.Hold("moved");
  ASSERT_EQ(rename(path().c_str(), moved.c_str()), 0);
  ASSERT_EQ(symlink(moved.c_str(), path().c_str()), 0);
  EXPECT_EQ(ask(place, geteuid()), ControlStatus::kNobody);
  unlink(path().c_str());
  ASSERT_EQ(rename(moved.c_str(), path().c_str()), 0);
  if (geteuid() != 0) return;
  // Another user's directory is used only if that user's are wanted, and only if that user listens
  // there.
  constexpr uid_t kOther = 65534;
  ASSERT_EQ(chown(place.c_str(), kOther, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(ask(place, 0), ControlStatus::kNobody);
  EXPECT_EQ(ask(place, kOther), ControlStatus::kNobody);
  ASSERT_EQ(chown(path().c_str(), kOther, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(ask(place, kOther), ControlStatus::kNobody);
}

TEST_F(ControlSocketTest, IsSilentWhereSomebodyListensAndDoesNotAnswer) {
  const auto asked = AskSupervisor(directory_.path(), geteuid(), {}, std::chrono::milliseconds(1));
  EXPECT_EQ(asked.status, ControlStatus::kSilent);
  // The asker has gone: there is nobody to take a named moment for.
  const auto visitor = Accept();
  ASSERT_TRUE(visitor);
  EXPECT_FALSE(ControlSocket::Promise(visitor->fd));
}

}  // namespace
}  // namespace memprof

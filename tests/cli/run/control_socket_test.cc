#include "cli/run/control_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
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
    return AskSupervisor(path(), request);
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
  EXPECT_EQ(AskSupervisor(directory_.path() + "/nothing", {}).status, ControlStatus::kNobody);
  EXPECT_EQ(AskSupervisor("/" + std::string(500, 'x'), {}).status, ControlStatus::kNobody);
}

TEST_F(ControlSocketTest, IsSilentWhereSomebodyListensAndDoesNotAnswer) {
  const auto asked = AskSupervisor(path(), {}, std::chrono::milliseconds(1));
  EXPECT_EQ(asked.status, ControlStatus::kSilent);
  // Who asked has gone: there is nobody to take a snapshot for.
  const auto visitor = Accept();
  ASSERT_TRUE(visitor);
  EXPECT_FALSE(ControlSocket::Promise(visitor->fd));
}

}  // namespace
}  // namespace memprof

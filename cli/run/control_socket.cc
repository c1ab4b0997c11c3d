#include "cli/run/control_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace memprof {
namespace {

constexpr int kBacklog = 16;
constexpr timeval kRequestLimit = {0, 50 * 1000};  // it is sent with the connect

bool Fill(sockaddr_un& address, const std::string& path) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return true;
}

// This user or root on the other side.
bool IsOurs(int fd) {
  ucred peer = {};
  socklen_t bytes = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

void SetLimit(int fd, std::chrono::milliseconds limit) {
  const timeval time = {limit.count() / 1000, limit.count() % 1000 * 1000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

ControlReply Only(ControlStatus status) {
  ControlReply reply;
  reply.status = status;
  return reply;
}

ControlReply Receive(int fd) {
  ControlReply reply;
  const ssize_t bytes = recv(fd, &reply, sizeof reply, 0);
  if (bytes < 0 && errno == EAGAIN) return Only(ControlStatus::kSilent);
  if (bytes != static_cast<ssize_t>(sizeof reply) || reply.version != kControlVersion ||
      reply.status > ControlStatus::kMine) {
    return Only(ControlStatus::kNobody);
  }
  return reply;
}

}  // namespace

ControlSocket::ControlSocket(ControlSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

ControlSocket::~ControlSocket() {
  if (fd_ >= 0) close(fd_);
}

Result<ControlSocket> ControlSocket::Open(PrivateDirectory& directory) {
  const std::string path = directory.Hold(kControlSocketName);
  ControlSocket opened(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  if (!Fill(address, path)) {
    return Fail(ErrorKind::kIo, fmt::format("{} is too long for a socket's path", path));
  }
  if (opened.fd_ < 0 ||
      bind(opened.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(opened.fd_, kBacklog) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("socket {}: {}", path, strerror(errno)));
  }
  return opened;
}

std::optional<ControlSocket::Visitor> ControlSocket::Accept() {
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return std::nullopt;
  Visitor visitor = {fd, {}};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kRequestLimit, sizeof kRequestLimit);
  ControlRequest& request = visitor.request;
  if (!IsOurs(fd) ||
      recv(fd, &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request) ||
      request.version != kControlVersion) {
    close(fd);
    return std::nullopt;
  }
  return visitor;
}

bool ControlSocket::Promise(int fd) {
  const ControlReply mine = Only(ControlStatus::kMine);
  if (send(fd, &mine, sizeof mine, MSG_NOSIGNAL | MSG_DONTWAIT) ==
      static_cast<ssize_t>(sizeof mine)) {
    return true;
  }
  close(fd);
  return false;
}

void ControlSocket::Answer(int fd, const ControlReply& reply) {
  (void)send(fd, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(fd);
}

ControlReply AskSupervisor(const std::string& path, const ControlRequest& request,
                           std::chrono::milliseconds patience) {
  sockaddr_un address;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0 || !Fill(address, path)) {
    if (fd >= 0) close(fd);
    return Only(ControlStatus::kNobody);
  }
  SetLimit(fd, patience);
  ControlReply reply = Only(ControlStatus::kNobody);
  // A stopped one's queue may be full: the connect waits then too.
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EAGAIN) reply = Only(ControlStatus::kSilent);
  } else if ((geteuid() == 0 || IsOurs(fd)) &&  // in /tmp another user may listen
             send(fd, &request, sizeof request, MSG_NOSIGNAL) ==
                 static_cast<ssize_t>(sizeof request)) {
    reply = Receive(fd);
    if (reply.status == ControlStatus::kMine) {
      SetLimit(fd, kControlTimeout);
      reply = Receive(fd);
      if (reply.status == ControlStatus::kNobody || reply.status == ControlStatus::kSilent) {
        reply = Only(ControlStatus::kFailed);
        SetText(reply.text, "the run was asked, and has not told the outcome");
      }
    }
  }
  close(fd);
  return reply;
}

}  // namespace memprof

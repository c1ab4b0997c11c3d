#include "cli/supervisor/channels/control_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/basics/process_facts.h"

namespace memprof {
namespace {

constexpr int kControlBacklog = 16;
constexpr std::chrono::milliseconds kStoppedAfter{
    50};                                           // one that is silent for so long may be stopped
constexpr timeval kRequestLimit = {0, 50 * 1000};  // a request is sent together with the connect

bool Fill(sockaddr_un& address, const std::string& path) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return true;
}

std::optional<ucred> PeerOf(int fd) {
  ucred peer = {};
  socklen_t bytes = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return peer;
}

std::optional<uid_t> UserBehind(int fd) {
  const auto peer = PeerOf(fd);
  return peer ? std::optional(peer->uid) : std::nullopt;
}

// Waits until the peer has answered, at most so long; not at all for a process that is stopped.
void AwaitAnswer(int fd, std::chrono::milliseconds patience) {
  const auto peer = PeerOf(fd);
  pollfd answer = {fd, POLLIN, 0};
  while (patience.count() > 0) {
    const auto slice = std::min(patience, kStoppedAfter);
    if (poll(&answer, 1, static_cast<int>(slice.count())) != 0) return;
    patience -= slice;
    const auto state = peer ? StateOf(peer->pid) : std::nullopt;
    if (state && (state->state == 'T' || state->state == 't')) return;
  }
}

// True if the peer is this user or root.
bool IsOurs(int fd) {
  const auto user = UserBehind(fd);
  return user && (*user == geteuid() || *user == 0);
}

// As AskSupervisor says; `owner` gets its owner. None: there is no socket that may be asked.
ScopedFd OpenControlSocket(const std::string& directory, uid_t other, uid_t& owner) {
  constexpr mode_t kOthersWrite = 0022;
  struct stat info;
  const ScopedFd place(open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place || fstat(place.get(), &info) != 0 || (info.st_mode & kOthersWrite) != 0 ||
      (info.st_uid != geteuid() && info.st_uid != other)) {
    return {};
  }
  owner = info.st_uid;
  ScopedFd socket(openat(place.get(), kControlSocketName, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!socket || fstat(socket.get(), &info) != 0 || !S_ISSOCK(info.st_mode) ||
      info.st_uid != owner) {
    return {};
  }
  return socket;
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

ControlReply Receive(int fd, int flags = 0) {
  ControlReply reply;
  const ssize_t bytes = recv(fd, &reply, sizeof reply, flags);
  if (bytes < 0 && errno == EAGAIN) return Only(ControlStatus::kSilent);
  if (bytes != static_cast<ssize_t>(sizeof reply) || reply.version != kControlVersion ||
      reply.status > ControlStatus::kMine) {
    return Only(ControlStatus::kNobody);
  }
  return reply;
}

}  // namespace

Result<ControlSocket> ControlSocket::Open(PrivateDirectory& directory) {
  const std::string path = directory.Hold(kControlSocketName);
  ControlSocket opened(ScopedFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  sockaddr_un address;
  if (!Fill(address, path)) {
    return Fail(ErrorKind::kIo, fmt::format("{} is too long for a socket's path", path));
  }
  if (!opened.fd_ ||
      bind(opened.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(opened.fd(), kControlBacklog) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("socket {}: {}", path, strerror(errno)));
  }
  return opened;
}

std::optional<ControlSocket::Visitor> ControlSocket::Accept() {
  ScopedFd peer(accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer) return std::nullopt;
  ControlRequest request;
  setsockopt(peer.get(), SOL_SOCKET, SO_RCVTIMEO, &kRequestLimit, sizeof kRequestLimit);
  if (!IsOurs(peer.get()) ||
      recv(peer.get(), &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request) ||
      request.version != kControlVersion) {
    return std::nullopt;
  }
  return Visitor{peer.Release(), request};
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

ControlReply AskSupervisor(const std::string& directory, uid_t other, const ControlRequest& request,
                           std::chrono::milliseconds patience, ScopedFd* rest) {
  uid_t owner = 0;
  const ScopedFd place = OpenControlSocket(directory, other, owner);
  ScopedFd peer(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  if (!place || !peer || !Fill(address, fmt::format("/proc/self/fd/{}", place.get()))) {
    return Only(ControlStatus::kNobody);
  }
  SetLimit(peer.get(), patience);
  // The queue of a stopped supervisor may be full: then the connect waits too.
  if (connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Only(errno == EAGAIN ? ControlStatus::kSilent : ControlStatus::kNobody);
  }
  if (UserBehind(peer.get()) != owner || send(peer.get(), &request, sizeof request, MSG_NOSIGNAL) !=
                                             static_cast<ssize_t>(sizeof request)) {
    return Only(ControlStatus::kNobody);
  }
  AwaitAnswer(peer.get(), patience);
  ControlReply reply = Receive(peer.get(), MSG_DONTWAIT);
  if (reply.status != ControlStatus::kMine) return reply;
  if (request.action != ControlAction::kShow) SetLimit(peer.get(), kControlTimeout);
  reply = Receive(peer.get());
  if (reply.status == ControlStatus::kNobody || reply.status == ControlStatus::kSilent) {
    reply = Only(ControlStatus::kFailed);
    SetText(reply.text, "the run was asked, and has not told the outcome");
  }
  if (rest != nullptr) *rest = std::move(peer);
  return reply;
}

}  // namespace memprof

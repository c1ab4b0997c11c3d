#include "cli/supervisor/channels/control_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

std::optional<uid_t> UserBehind(int fd) {
  ucred peer = {};
  socklen_t bytes = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return peer.uid;
}

// This user or root on the other side.
bool IsOurs(int fd) {
  const auto user = UserBehind(fd);
  return user && (*user == geteuid() || *user == 0);
}

struct OpenFile {
  explicit OpenFile(int opened) : fd(opened) {}
  OpenFile(OpenFile&& from) noexcept : fd(std::exchange(from.fd, -1)) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
  int fd;
};

// As AskSupervisor says; `owner`: whose it is. Below 0: there is none that may be asked.
OpenFile OpenControlSocket(const std::string& directory, uid_t other, uid_t& owner) {
  constexpr mode_t kOthersWrite = 0022;
  struct stat info;
  const OpenFile place(open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (place.fd < 0 || fstat(place.fd, &info) != 0 || (info.st_mode & kOthersWrite) != 0 ||
      (info.st_uid != geteuid() && info.st_uid != other)) {
    return OpenFile(-1);
  }
  owner = info.st_uid;
  OpenFile socket(openat(place.fd, kControlSocketName, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (socket.fd < 0 || fstat(socket.fd, &info) != 0 || !S_ISSOCK(info.st_mode) ||
      info.st_uid != owner) {
    return OpenFile(-1);
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

ControlReply AskSupervisor(const std::string& directory, uid_t other, const ControlRequest& request,
                           std::chrono::milliseconds patience) {
  uid_t owner = 0;
  const OpenFile place = OpenControlSocket(directory, other, owner);
  const OpenFile peer(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  if (place.fd < 0 || peer.fd < 0 || !Fill(address, fmt::format("/proc/self/fd/{}", place.fd))) {
    return Only(ControlStatus::kNobody);
  }
  SetLimit(peer.fd, patience);
  // A stopped one's queue may be full: the connect waits then too.
  if (connect(peer.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Only(errno == EAGAIN ? ControlStatus::kSilent : ControlStatus::kNobody);
  }
  if (UserBehind(peer.fd) != owner || send(peer.fd, &request, sizeof request, MSG_NOSIGNAL) !=
                                          static_cast<ssize_t>(sizeof request)) {
    return Only(ControlStatus::kNobody);
  }
  ControlReply reply = Receive(peer.fd);
  if (reply.status != ControlStatus::kMine) return reply;
  SetLimit(peer.fd, kControlTimeout);
  reply = Receive(peer.fd);
  if (reply.status == ControlStatus::kNobody || reply.status == ControlStatus::kSilent) {
    reply = Only(ControlStatus::kFailed);
    SetText(reply.text, "the run was asked, and has not told the outcome");
  }
  return reply;
}

}  // namespace memprof

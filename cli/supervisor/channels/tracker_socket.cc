#include "cli/supervisor/channels/tracker_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/basics/process_facts.h"
#include "core/protocol/handshake.h"

namespace memprof {
namespace {

constexpr int kTrackerBacklog = SOMAXCONN;  // a build may start hundreds of programs at once
// A tracker sends its hello together with its connect; a peer that doesn't is no tracker.
constexpr timeval kHelloLimit = {0, 50 * 1000};

}  // namespace

Result<TrackerSocket> TrackerSocket::Open(PrivateDirectory& directory) {
  TrackerSocket opened(ScopedFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
                       directory.Hold(kTrackerSocketName));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (opened.path_.size() >= sizeof address.sun_path) {
    return Fail(ErrorKind::kIo, fmt::format("{} is too long for a socket's path", opened.path_));
  }
  std::memcpy(address.sun_path, opened.path_.c_str(), opened.path_.size());
  if (!opened.fd_ ||
      bind(opened.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(opened.fd(), kTrackerBacklog) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("socket {}: {}", opened.path_, strerror(errno)));
  }
  return opened;
}

std::optional<TrackerSocket::Visitor> TrackerSocket::Accept(
    const std::function<bool(pid_t)>& is_of_this_run) {
  ScopedFd visitor(accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!visitor) return std::nullopt;
  ucred peer = {};
  socklen_t bytes = sizeof peer;
  Hello hello = {};
  setsockopt(visitor.get(), SOL_SOCKET, SO_RCVTIMEO, &kHelloLimit, sizeof kHelloLimit);
  // A program that root profiles may give up its privileges.
  const auto may_come = [&] {
    return peer.uid == geteuid() ||
           (geteuid() == 0 && is_of_this_run != nullptr && is_of_this_run(peer.pid));
  };
  if (getsockopt(visitor.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || !may_come() ||
      recv(visitor.get(), &hello, sizeof hello, 0) != static_cast<ssize_t>(sizeof hello) ||
      hello.version != kHandshakeVersion) {
    return std::nullopt;
  }
  const bool foreign_pids = hello.pid != static_cast<uint32_t>(peer.pid) || HasOwnPids(peer.pid);
  return Visitor{visitor.Release(), peer.pid, foreign_pids, peer.uid, hello.most_region_bytes};
}

bool TrackerSocket::Admit(const Visitor& visitor, int region_fd, uint64_t region_bytes,
                          const ForChildren& children) {
  return Answer(visitor, region_fd, region_bytes, children);
}

bool TrackerSocket::Answer(const Visitor& visitor, int region_fd, uint64_t region_bytes,
                           const ForChildren& children) {
  Welcome welcome = {kHandshakeVersion,
                     region_fd >= 0 ? 1u : 0u,
                     region_bytes,
                     children.bytes,
                     children.image,
                     visitor.foreign_pids ? 1u : 0u,
                     0};
  const int descriptors[2] = {region_fd, children.fd};
  const size_t bytes = sizeof(int) * (children.fd >= 0 ? 2 : 1);
  iovec data = {&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (region_fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(part), descriptors, bytes);
  }
  const ssize_t sent = sendmsg(visitor.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(visitor.fd);
  return sent == static_cast<ssize_t>(sizeof welcome);
}

}  // namespace memprof

#include "aggregator/start/handshake_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/private_memory.h"
#include "core/protocol/handshake.h"

namespace memprof {
namespace {

int Connect(const char* path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t bytes = strlen(path);
  if (bytes >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, bytes);
  const auto fd =
      static_cast<int>(kernel::Call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (fd < 0) return -1;
  const timeval limit = {kHandshakeTimeoutMs / 1000, kHandshakeTimeoutMs % 1000 * 1000};
  kernel::Call(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  kernel::Call(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (kernel::Call(SYS_connect, fd, &address, sizeof address) != 0) {
    kernel::Close(fd);
    return -1;
  }
  return fd;
}

// The descriptors that came with the welcome: the region's and the children's; -1 for none. Further
// ones are closed.
struct Received {
  int region = -1;
  int children = -1;
};
Received ReceiveWelcome(int fd, Welcome* welcome) {
  constexpr size_t kRoom = 4;  // the kernel closes those that don't fit
  alignas(cmsghdr) char control[CMSG_SPACE(kRoom * sizeof(int))] = {};
  iovec data = {welcome, sizeof *welcome};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const bool whole =
      kernel::Call(SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC) == long{sizeof *welcome};
  const cmsghdr* part = CMSG_FIRSTHDR(&message);
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS || part->cmsg_level != SOL_SOCKET) return {};
  const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  int received[kRoom];
  static_assert(CMSG_SPACE(sizeof received) == CMSG_LEN(sizeof received), "no room for one more");
  memcpy(received, CMSG_DATA(part), count * sizeof(int));
  if (whole && count == 1) return {received[0], -1};
  if (whole && count == 2) return {received[0], received[1]};
  for (size_t i = 0; i < count; ++i) kernel::Close(received[i]);
  return {};
}

// True if the memory is really as large as claimed: touching a page behind its end would be fatal.
bool Holds(int memory, uint64_t bytes) {
  struct stat info;
  return kernel::Stat(memory, &info) == 0 && static_cast<uint64_t>(info.st_size) >= bytes;
}

}  // namespace

MappedRegion ReceiveRegion(const char* socket_path) {
  const int fd = Connect(socket_path);
  if (fd < 0) return {};
  MappedRegion mapped;
  const Hello hello = {kHandshakeVersion, kernel::Pid(), RegionShare(kAnyRegionBytes)};
  Welcome welcome = {};
  if (kernel::Call(SYS_sendto, fd, &hello, sizeof hello, MSG_NOSIGNAL) == long{sizeof hello}) {
    const Received received = ReceiveWelcome(fd, &welcome);
    if (received.region >= 0 && welcome.accepted != 0 && welcome.version == kHandshakeVersion &&
        Holds(received.region, welcome.region_bytes)) {
      mapped.base = MapRegion(received.region, welcome.region_bytes);
      mapped.bytes = welcome.region_bytes;
      mapped.image = welcome.image;
      mapped.foreign_pids = welcome.foreign_pids != 0;
      // A limit on address space is meant for the program, so the children's area is then not
      // mapped.
      if (mapped.base != nullptr && received.children >= 0 &&
          Holds(received.children, welcome.children_bytes) &&
          AddressSpaceShare(welcome.children_bytes) == welcome.children_bytes) {
        mapped.children = MapRegion(received.children, welcome.children_bytes);
        mapped.children_bytes = welcome.children_bytes;
      }
    }
    if (received.region >= 0) kernel::Close(received.region);
    if (received.children >= 0) kernel::Close(received.children);
  }
  kernel::Close(fd);
  return mapped;
}

}  // namespace memprof

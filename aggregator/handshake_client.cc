#include "aggregator/handshake_client.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "aggregator/hooks/errno_guard.h"
#include "core/handshake.h"

namespace memprof {
namespace {

int Connect(const char* path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t bytes = strlen(path);
  if (bytes >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, bytes);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval limit = {0, kHandshakeTimeoutMs * 1000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

// The descriptor that came with the welcome, or -1.
int ReceiveWelcome(int fd, Welcome* welcome) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {welcome, sizeof *welcome};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof *welcome)) return -1;
  const cmsghdr* part = CMSG_FIRSTHDR(&message);
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS || part->cmsg_level != SOL_SOCKET) return -1;
  int received;
  memcpy(&received, CMSG_DATA(part), sizeof received);
  return received;
}

}  // namespace

MappedRegion ReceiveRegion(const char* socket_path) {
  const ErrnoGuard keep;
  const int fd = Connect(socket_path);
  if (fd < 0) return {};
  MappedRegion mapped;
  const Hello hello = {kHandshakeVersion, static_cast<uint32_t>(getpid())};
  Welcome welcome = {};
  if (send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof hello)) {
    const int memory = ReceiveWelcome(fd, &welcome);
    if (memory >= 0) {
      if (welcome.accepted != 0 && welcome.version == kHandshakeVersion) {
        void* base = mmap(nullptr, welcome.region_bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, memory, 0);
        if (base != MAP_FAILED) {
          madvise(base, welcome.region_bytes, MADV_DONTDUMP);
          mapped = {base, welcome.region_bytes};
        }
      }
      close(memory);
    }
  }
  close(fd);
  return mapped;
}

}  // namespace memprof

// The handshake with a hostile peer: a supervisor that answers a tracker with any bytes and
// descriptors, and a tracker (or another process) that greets the supervisor with any bytes. Both
// give up or end; neither keeps a descriptor, and a region that is accepted lies in its memory.
//
//   input   1 byte: bit 0 which side is the fuzzed one; bits 1 to 3 how many descriptors come
//           along; bit 4 whether they are a region's; bit 5 the peer ends without a word; bits 6, 7
//           the size of the region's memory
//           the bytes sent; from the supervisor's side, the region's content after the first 16 bytes

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "aggregator/basics/region.h"
#include "aggregator/start/handshake_client.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "core/protocol/handshake.h"

namespace {

using namespace memprof;

// The lowest free descriptor: it changes if a descriptor was kept.
int NextDescriptor() {
  const int fd = dup(STDERR_FILENO);
  close(fd);
  return fd;
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

int Listen(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(path);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, 16) != 0) {
    std::abort();
  }
  return fd;
}

// Says `bytes`, with `count` descriptors of `memory`.
void Say(int fd, const uint8_t* bytes, size_t size, int memory, size_t count) {
  constexpr size_t kMost = 7;
  alignas(cmsghdr) char control[CMSG_SPACE(kMost * sizeof(int))] = {};
  iovec data = {const_cast<uint8_t*>(bytes), size};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (count != 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(CMSG_DATA(part) + i * sizeof(int), &memory, sizeof memory);
    }
  }
  (void)!sendmsg(fd, &message, MSG_NOSIGNAL);
}

// A directory in which no other memprof looks for stale directories.
struct OwnRuntimeDirectory {
  OwnRuntimeDirectory() {
    if (mkdtemp(path) == nullptr) std::abort();
    setenv("XDG_RUNTIME_DIR", path, 1);
  }
  ~OwnRuntimeDirectory() { rmdir(path); }
  char path[32] = "/tmp/handshake-fuzz-XXXXXX";
};

struct Places {
  Places() : directory(*PrivateDirectory::Make()), supervisor(*TrackerSocket::Open(directory)) {
    impostor_path = directory.Hold("impostor");
    impostor = Listen(impostor_path);
  }
  OwnRuntimeDirectory runtime;
  PrivateDirectory directory;
  TrackerSocket supervisor;
  std::string impostor_path;
  int impostor;
};

// A peer that greets the supervisor with anything.
void GreetTheSupervisor(Places& places, uint8_t how, const uint8_t* bytes, size_t size) {
  const int peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(places.supervisor.path());
  if (connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
  if ((how & 0x20) == 0) Say(peer, bytes, size, STDERR_FILENO, how / 2 % 8 % 4);
  // Without a word it would be waited for; it ends then.
  if ((how & 0x20) != 0 || size == 0) shutdown(peer, SHUT_RDWR);
  const auto visitor = places.supervisor.Accept();
  Hello hello = {};
  std::memcpy(&hello, bytes, std::min(size, sizeof hello));
  const bool right =
      (how & 0x20) == 0 && size >= sizeof hello && hello.version == kHandshakeVersion;
  if (visitor.has_value() != right) std::abort();
  if (visitor) (void)places.supervisor.Admit(*visitor, STDERR_FILENO, 4096);
  close(peer);
}

// A supervisor that answers the tracker with anything.
void AnswerTheTracker(Places& places, uint8_t how, const uint8_t* bytes, size_t size) {
  const int memory = memfd_create("fuzz", MFD_CLOEXEC);
  const off_t sizes[] = {0, 4096, 8192, 1 << 20};
  const off_t memory_bytes = sizes[how >> 6];
  if (ftruncate(memory, memory_bytes) != 0) std::abort();
  const size_t said = std::min(size, sizeof(Welcome));
  if (memory_bytes != 0 && size > said) {
    const size_t n = std::min(size - said, static_cast<size_t>(memory_bytes));
    (void)!pwrite(memory, bytes + said, n, 0);
  }
  std::thread supervisor([&] {
    const int peer = accept4(places.impostor, nullptr, nullptr, SOCK_CLOEXEC);
    Hello hello;
    (void)!recv(peer, &hello, sizeof hello, 0);
    if ((how & 0x20) == 0) {
      Say(peer, bytes, said, (how & 0x10) != 0 ? memory : STDERR_FILENO, how / 2 % 8 % 4);
    }
    close(peer);
  });
  const MappedRegion mapped = ReceiveRegion(places.impostor_path.c_str());
  supervisor.join();
  if (mapped.base != nullptr) {
    // The mapped memory exists up to its last byte.
    static_cast<volatile const unsigned char*>(mapped.base)[mapped.bytes - 1];
    Region region;
    if (region.Attach(mapped.base, mapped.bytes)) {
      for (const TableInfo& table : static_cast<const RegionHeader*>(mapped.base)->tables) {
        if (table.offset > mapped.bytes ||
            uint64_t{table.capacity} * table.record_bytes > mapped.bytes - table.offset) {
          std::abort();
        }
      }
    }
    munmap(mapped.base, mapped.bytes);
    if (mapped.children != nullptr) {
      static_cast<volatile const unsigned char*>(mapped.children)[mapped.children_bytes - 1];
      munmap(mapped.children, mapped.children_bytes);
    }
  }
  close(memory);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Places places;
  if (size == 0) return 0;
  const int before = NextDescriptor();
  if ((data[0] & 1) != 0) {
    GreetTheSupervisor(places, data[0], data + 1, size - 1);
  } else {
    AnswerTheTracker(places, data[0], data + 1, size - 1);
  }
  if (NextDescriptor() != before) std::abort();
  return 0;
}

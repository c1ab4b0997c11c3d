#include "cli/serve/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace memprof {
namespace {

constexpr int kBacklog = 64;

tl::unexpected<Error> Failed(const std::string& where) {
  const int error = errno;
  return Fail(ErrorKind::kIo, fmt::format("can't listen on {}: {}{}", where, strerror(error),
                                          error == EADDRINUSE ? "; port 0 takes a free one" : ""));
}

// False: somebody listens there, or it is no socket of this user.
bool RemoveDead(const sockaddr_un& address) {
  struct stat info;
  if (lstat(address.sun_path, &info) != 0) return errno == ENOENT;
  if (!S_ISSOCK(info.st_mode) || info.st_uid != geteuid()) return false;
  const ScopedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno != ECONNREFUSED) {
    return false;
  }
  return unlink(address.sun_path) == 0;
}

Result<Listener> OpenUnix(const ListenAddress& where) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, where.socket.c_str(), where.socket.size() + 1);
  ScopedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Failed(where.socket);
  if (!RemoveDead(address)) {
    return Fail(ErrorKind::kIo, fmt::format("can't listen on {}: there is a file, or somebody "
                                            "listens there; name another one",
                                            where.socket));
  }
  // The mode that the file gets.
  if (fchmod(fd.get(), 0600) != 0) return Failed(where.socket);
  const mode_t before = umask(0177);
  const int bound = bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  umask(before);
  if (bound != 0 || listen(fd.get(), kBacklog) != 0) return Failed(where.socket);
  return Listener(std::move(fd), UrlOf(where, 0), where.socket);
}

}  // namespace

Result<Listener> Listener::Open(const ListenAddress& address) {
  if (!address.socket.empty()) return OpenUnix(address);
  sockaddr_storage storage = {};
  socklen_t bytes = 0;
  auto* const four = reinterpret_cast<sockaddr_in*>(&storage);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&storage);
  if (inet_pton(AF_INET, address.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(address.port);
    bytes = sizeof *four;
  } else if (inet_pton(AF_INET6, address.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(address.port);
    bytes = sizeof *six;
  } else {
    return Fail(ErrorKind::kUsage, address.host + ": not an address");
  }
  const std::string where = UrlOf(address, address.port);
  ScopedFd fd(socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // A program that is started again gets the address at once.
  if (!fd || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      (storage.ss_family == AF_INET6 &&
       setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&storage), bytes) != 0 ||
      listen(fd.get(), kBacklog) != 0) {
    return Failed(where);
  }
  socklen_t room = sizeof storage;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&storage), &room) != 0)
    return Failed(where);
  const uint16_t port = ntohs(storage.ss_family == AF_INET ? four->sin_port : six->sin6_port);
  return Listener(std::move(fd), UrlOf(address, port), {});
}

Listener::Listener(ScopedFd fd, std::string url, std::string file)
    : fd_(std::move(fd)), url_(std::move(url)), file_(std::move(file)) {
  struct stat info;
  if (!file_.empty() && lstat(file_.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) {
    device_ = info.st_dev;
    inode_ = info.st_ino;
  }
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::move(other.fd_)),
      url_(std::move(other.url_)),
      file_(std::exchange(other.file_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

Listener::~Listener() {
  struct stat info;
  if (!file_.empty() && lstat(file_.c_str(), &info) == 0 && info.st_dev == device_ &&
      info.st_ino == inode_) {
    unlink(file_.c_str());
  }
}

void Listener::Release() {
  fd_.Reset();
  file_.clear();
}

}  // namespace memprof

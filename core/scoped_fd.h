// ScopedFd: owns a file descriptor and closes it. It can be moved, not copied.
//
//   const ScopedFd file(open(path, O_RDONLY | O_CLOEXEC));
//   if (!file) return Fail(ErrorKind::kIo, strerror(errno));
//
// Thread safety: none. Closing keeps errno.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace memprof {

class ScopedFd {
 public:
  ScopedFd() = default;
  // A negative descriptor, such as failed calls return, is none.
  explicit ScopedFd(int fd) : fd_(fd < 0 ? -1 : fd) {}
  ScopedFd(ScopedFd&& other) noexcept : fd_(other.Release()) {}
  ScopedFd& operator=(ScopedFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~ScopedFd() { Reset(); }

  int get() const { return fd_; }  // -1: none
  explicit operator bool() const { return fd_ >= 0; }

  // The caller owns it from now on.
  int Release() { return std::exchange(fd_, -1); }
  // Closes it, and owns the other one.
  void Reset(int fd = -1) {
    const int old = std::exchange(fd_, fd < 0 ? -1 : fd);
    if (old < 0) return;
    const int error = errno;
    close(old);
    errno = error;
  }

 private:
  int fd_ = -1;
};

}  // namespace memprof

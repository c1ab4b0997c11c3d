// Keeps errno over a scope: what the host sees in errno is its own.
#pragma once

#include <cerrno>

namespace memprof {

class ErrnoGuard {
 public:
  ErrnoGuard() : saved_(errno) {}
  ~ErrnoGuard() { errno = saved_; }
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;

 private:
  const int saved_;
};

}  // namespace memprof

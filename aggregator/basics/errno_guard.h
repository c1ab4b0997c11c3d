// Preserves errno over a scope, so that the program sees only its own errors.
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

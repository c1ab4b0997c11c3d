#include "core/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace memprof {

bool WriteAll(int fd, const void* bytes, size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t n = write(fd, at, count);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    count -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace memprof

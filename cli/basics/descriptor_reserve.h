// DescriptorReserve: the last descriptors below this process's limit (RLIMIT_NOFILE), kept for what
// must not fail: writing captures, and reading /proc.
//
// A tree of processes may need a descriptor each, and the limit may be small. Whoever opens one of
// them asks whether it lies in the reserve, and does without it then.
//
// Thread safety: any thread.
#pragma once

#include <sys/resource.h>

#include <algorithm>

#include "core/scoped_fd.h"

namespace memprof {

// True if `fd` is one of the last 16 that this process may have, or of the last quarter if it may
// have fewer than 64. The kernel gives the lowest free number, so all lower ones are in use.
inline bool IsInDescriptorReserve(int fd) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const rlim_t reserved = std::min<rlim_t>(16, limit.rlim_cur / 4);
  return fd >= 0 && static_cast<rlim_t>(fd) + reserved >= limit.rlim_cur;
}

// Closes it if it lies in the reserve; the result is none then.
inline ScopedFd UnlessInReserve(ScopedFd fd) {
  if (IsInDescriptorReserve(fd.get())) fd.Reset();
  return fd;
}

}  // namespace memprof

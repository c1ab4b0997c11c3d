// The time, without a system call of our own: the vdso's, and the coarse one, which is the vdso's
// on any machine, where the host filters its calls. Thread safety: any.
#pragma once

#include <time.h>

#include <cstdint>

#include "aggregator/libc_functions.h"
#include "aggregator/system_calls.h"

namespace memprof {

inline uint64_t MonotonicNs() {
  timespec now = {};
  const clockid_t clock = SystemCallsFiltered() ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC;
  if (const auto get = TheLibc().clock_gettime; get != nullptr) get(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace memprof

// The time, without a system call of our own. It is the vdso's clock. If the program filters system
// calls it is the coarse clock, which the vdso has on any machine. Thread safety: any.
#pragma once

#include <time.h>

#include <cstdint>

#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/system_calls.h"

namespace memprof {

inline uint64_t MonotonicNs() {
  timespec now = {};
  const clockid_t clock = SystemCallsFiltered() ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC;
  if (const auto get = TheLibc().clock_gettime.Load(); get != nullptr) get(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace memprof

// RandomNumber: the kernel's random number, never 0. Not for secrets.
#pragma once

#include <sys/random.h>

#include <cstdint>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/monotonic_clock.h"

namespace memprof {

// Kernels before 3.17 have none: it is then made of clock and pid.
inline uint64_t RandomNumber() {
  uint64_t number = 0;
  if (kernel::Call(SYS_getrandom, &number, sizeof number, GRND_NONBLOCK) != long{sizeof number}) {
    number = MonotonicNs() ^ uint64_t { kernel::Pid() } << 48;
  }
  return number == 0 ? 1 : number;
}

}  // namespace memprof

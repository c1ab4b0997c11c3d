// AnyNumber: another one each time, by chance; not 0. Not for secrets.
#pragma once

#include <sys/random.h>

#include <cstdint>

#include "aggregator/kernel_calls.h"
#include "aggregator/monotonic_clock.h"

namespace memprof {

// Without the kernel's help (before 3.17) by clock and pid.
inline uint64_t AnyNumber() {
  uint64_t number = 0;
  if (kernel::Call(SYS_getrandom, &number, sizeof number, GRND_NONBLOCK) != long{sizeof number}) {
    number = MonotonicNs() ^ uint64_t { kernel::Pid() } << 48;
  }
  return number == 0 ? 1 : number;
}

}  // namespace memprof

// AnyNumber: another one each time, by chance; not 0. Not for secrets.
#pragma once

#include <sys/random.h>
#include <unistd.h>

#include <cstdint>

#include "aggregator/monotonic_clock.h"

namespace memprof {

// Without the kernel's help (before 3.17) by clock and pid.
inline uint64_t AnyNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number)) {
    number = MonotonicNs() ^ static_cast<uint64_t>(getpid()) << 48;
  }
  return number == 0 ? 1 : number;
}

}  // namespace memprof

// RandomNumber: a random number other than 0. Not for secrets.
#pragma once

#include <sys/random.h>

#include <chrono>
#include <cstdint>

namespace memprof {

// Uses the clock on kernels without getrandom (before 3.17).
inline uint64_t RandomNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number)) {
    number = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return number == 0 ? 1 : number;
}

}  // namespace memprof

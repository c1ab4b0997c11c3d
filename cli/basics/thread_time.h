// ThreadTime: the processor time of the calling thread. Thread-safe.
#pragma once

#include <chrono>
#include <ctime>

namespace memprof {

inline std::chrono::nanoseconds ThreadTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace memprof

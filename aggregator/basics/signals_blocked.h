// SignalsBlocked: while it lives, no signal handler runs on this thread, so none leaves the current
// function by siglongjmp. It blocks all signals, also those that libc reserves. It does nothing if
// the program filters its system calls.
#pragma once

#include <signal.h>

#include <cstdint>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/system_calls.h"

namespace memprof {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    const uint64_t all = ~uint64_t{0};
    blocked_ = !SystemCallsFiltered() &&
               kernel::Call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all) == 0;
  }
  ~SignalsBlocked() {
    if (blocked_) {
      kernel::Call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
    }
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
  bool blocked_ = false;
};

}  // namespace memprof

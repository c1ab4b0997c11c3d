// SignalsBlocked: no signal handler runs on this thread meanwhile, nor leaves what it is in by
// siglongjmp: all signals, also those that libc keeps for itself. Not where the host filters its
// system calls.
#pragma once

#include <signal.h>

#include <cstdint>

#include "aggregator/kernel_calls.h"
#include "aggregator/system_calls.h"

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

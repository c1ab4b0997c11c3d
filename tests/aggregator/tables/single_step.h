// A SIGTRAP after each instruction from StartStepping to StopStepping, for tests of what may be
// interrupted anywhere. The handler itself isn't stepped. Not under TSan, which delays signals.
#pragma once

namespace memprof {

inline constexpr unsigned kTrapFlag = 0x100;

[[gnu::always_inline]] inline void StartStepping() {
  __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(kTrapFlag) : "cc", "memory");
}
[[gnu::always_inline]] inline void StopStepping() {
  __asm__ volatile("pushfq; andq %0, (%%rsp); popfq"
                   :
                   : "i"(~static_cast<int>(kTrapFlag))
                   : "cc", "memory");
}

}  // namespace memprof

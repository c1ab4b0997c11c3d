// A SIGTRAP after each instruction from StartStepping to StopStepping, for tests of code that may
// be interrupted anywhere. The handler itself isn't stepped. Not under TSan, which delays signals.
#pragma once

#if defined(__has_feature)  // clang's; gcc has macros
#if __has_feature(address_sanitizer)
#define MEMPROF_WITH_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define MEMPROF_WITH_ASAN
#endif

namespace memprof {

// With a sanitizer's instructions there are many more steps.
#ifdef MEMPROF_WITH_ASAN
inline constexpr int kStepsOfSanitizer = 23;
#else
inline constexpr int kStepsOfSanitizer = 1;
#endif

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

// PlainFloats: while it lives, floats round to nearest, have subnormal values and raise no trap,
// whatever the program has set. Afterwards the program's mode and flags are as before.
//
//   const PlainFloats plain;
//   return Pinned(Compute(Pinned(value)));
//
// The compiler doesn't know the mode: Pinned keeps a computation between the two switches.
// Thread safety: changes the calling thread's mode only; a signal handler has its own.
#pragma once

#include <cstdint>

namespace memprof {

class PlainFloats {
 public:
  PlainFloats() {
    constexpr uint32_t kDefault = 0x1f80;  // all exceptions masked, to nearest
    __asm__ volatile("stmxcsr %0" : "=m"(before_));
    __asm__ volatile("ldmxcsr %0" : : "m"(kDefault) : "memory");
  }
  ~PlainFloats() { __asm__ volatile("ldmxcsr %0" : : "m"(before_) : "memory"); }
  PlainFloats(const PlainFloats&) = delete;
  PlainFloats& operator=(const PlainFloats&) = delete;

 private:
  uint32_t before_;
};

// The same value, but the compiler can't move its computation across this point.
inline uint64_t Pinned(uint64_t value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

}  // namespace memprof

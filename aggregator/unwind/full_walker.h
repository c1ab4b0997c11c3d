// FullWalker: finds the callee-saved registers of a frame of the stack and, beyond a signal frame,
// all other registers. It is for the few frames whose CFI needs more than rsp and rbp (an address
// kept in rbx, the prologue of a function that realigns its stack).
//
// It starts from the registers inside the unwinder itself and steps out of it, frame by frame, with
// the whole CFI of each. This takes about 0.1 µs a frame, only for stacks with such frames.
//
// Thread safety: a value on one thread's stack. Async-signal-safe.
#pragma once

#include <cstdint>

#include "aggregator/unwind/readable_stack.h"
#include "aggregator/unwind/registers.h"

namespace memprof {

class FullWalker {
 public:
  // The registers of the frame at (pc, sp) became known in another way.
  void StandAt(const Registers& registers) {
    registers_ = registers;
    begun_ = true;
  }

  // Steps to the frame at (pc, sp), which lies at or above the walker's. False: it isn't reached,
  // and the walker can't be used any more. REQUIRES: the first time, the frame is one of the
  // callers of this call.
  bool AdvanceTo(uintptr_t pc, uintptr_t sp, const ReadableStack& stack);

  const Registers& registers() const { return registers_; }

 private:
  bool begun_ = false;
  bool lost_ = false;
  Registers registers_;  // set when begun
};

}  // namespace memprof

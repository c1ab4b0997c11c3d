// NestedStack: a StackMemory for an event that must not use its thread's own: a signal handler that
// interrupted the tracker, or a thread without a slot.
//
// Thread safety: lock-free; any thread, also a signal handler.
// Failure: null when all are in use; the event is then booked without a stack.
#pragma once

#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// In a forked child: whoever had one of another thread's is gone.
void ForgetNestedStacks();

class NestedStack {
 public:
  NestedStack();
  ~NestedStack();
  NestedStack(const NestedStack&) = delete;
  NestedStack& operator=(const NestedStack&) = delete;

  StackMemory* get() const { return memory_; }

 private:
  StackMemory* memory_ = nullptr;
};

}  // namespace memprof

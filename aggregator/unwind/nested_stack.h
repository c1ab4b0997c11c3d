// NestedStack: a StackMemory for an event that must not use its thread's own: in a signal handler
// that interrupted the tracker, or in a thread without a slot.
//
// A thread that the scheduler stops in the middle of an event keeps its stack until it runs again.
// With thousands of threads on few processors hundreds are stopped so at once.
//
// Thread safety: lock-free; any thread, also a signal handler.
// Memory: each is mapped at its first use and stays.
// Failure: null when all are in use; the event is then booked without a stack.
#pragma once

#include <cstddef>

#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// In a forked child: other threads that had one are gone.
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
  size_t index_ = 0;
};

}  // namespace memprof

// StackProbe: captures the caller's stack three ways (with reuse, from scratch, and by libunwind as
// the oracle). The test fails if they differ, or if VerifiedStacks takes the stack for another one.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/unwind/stack_capture.h"
#include "aggregator/unwind/verified_stacks.h"

namespace memprof::test {

struct ProbedStack {
  std::vector<uintptr_t> pcs;    // root first
  std::vector<uintptr_t> slots;  // of the same frames
  CaptureResult result;
};

class StackProbe {
 public:
  StackProbe();
  ~StackProbe();
  StackProbe(const StackProbe&) = delete;
  StackProbe& operator=(const StackProbe&) = delete;

  // Captures the stack of its caller and checks it. `oracle` false: libunwind can't walk this one.
  // Async-signal-safe enough for a signal that is raised synchronously outside malloc.
  void Check(bool oracle = true);
  // The same for another function's caller. REQUIRES: called from that function.
  void CheckFrom(const StartRegisters& start, bool oracle = true);

  // The last capture.
  const ProbedStack& last() const { return last_; }

  uint64_t captures() const { return captures_; }
  uint64_t frames() const { return frames_; }        // of all captures
  uint64_t unchanged() const { return unchanged_; }  // of these, those that were reused
  bool may_grow = true;                              // VerifiedStacks get memory when they ask
  uint64_t verified() const { return verified_; }    // captures that VerifiedStacks knew
  // Captures in which libunwind itself went wrong, because the CFI is wrong there.
  uint64_t oracle_lost() const { return oracle_lost_; }

 private:
  void CheckUnchanged(const CaptureResult& reused);

  StackMemory* reused_memory_;
  StackMemory* plain_memory_;
  VerifiedStacks* verified_stacks_;
  std::vector<uintptr_t> remembered_pcs_;
  std::vector<uintptr_t> remembered_slots_;
  ProbedStack last_;
  uint64_t captures_ = 0;
  uint64_t frames_ = 0;
  uint64_t unchanged_ = 0;
  uint64_t verified_ = 0;
  uint64_t oracle_lost_ = 0;
  uint32_t next_mark_ = 1;
};

// Checks with this thread's g_probe: the shapes of call_shapes.h call it at their leaf.
extern thread_local StackProbe* g_probe;
void ProbeHere();

// The same for its caller's stack: nothing between has saved the caller's rbp.
void ProbeTheCaller();

// The same as ProbeHere with a few frames in between that leave rbp alone.
void ProbeBelowRecursion();

// Calls `function`, always from the same place.
void Repeat(int times, void (*function)());

}  // namespace memprof::test

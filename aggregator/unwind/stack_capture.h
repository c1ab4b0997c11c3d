// StackCapture: the call stack of the calling thread, root first, with the part that is unchanged
// since the thread's previous capture.
//
// How it works. A walk's state is (pc, sp, rbp). StackWalker steps from a frame to its caller,
// mostly by a compact rule learnt from .eh_frame (8 ns; verifying takes 0.6). Real programs change
// only a few frames between two allocations. So the last capture is kept, and each new state is
// compared with the remembered one of the same stack word (RememberedFrame::slot). If pc and stack
// word are equal, and rbp if a later step reads it, the walks have met. From there towards the root the words that the remembered
// steps read (return address, saved rbp) are compared with the current ones. A step is a function
// of its state and of the words it reads; as long as these are unchanged, so is the next state. At
// the first changed word the walk goes on by rules, from the last state that is still right, and
// may meet the remembered one again nearer to the root.
//
// "Same stack word and same return address, so the rest is the same" would be wrong: in `root() {
// P(); P(); }` the frame below P has the same stack word and return address both times, and P's own
// return address differs.
//
//   verified instead of walked   steps by compact rules on one stack
//   always walked again          special frames (realigned stack, signal trampoline, PLT, CFA in
//                                another register, switch to another stack): more was read than is
//                                recorded; and the last step of a stack that doesn't end by a rule
//   never reused                 stacks cut off at kMaxFrames; anything older than a dlclose
//
// Verifying goes from the meeting point outwards, never from the root inwards. So it reads exactly
// what the walk would read, and no word of a stack that has since been unmapped.
//
// Thread safety: CaptureStack works only on the caller's StackMemory. One memory is used by one
// thread at a time (a signal handler that interrupts a capture brings another one); it may be
// handed to another thread unchanged. Async-signal-safe: takes no lock, allocates nothing,
// preserves errno.
// Memory: StackMemory is zero-initialised mmap'ed memory of the caller's; only the used part is
// touched, from both ends of `frames`. On the stack, less than 3 KiB.
// Failure: never. A stack whose outer frames can't be found is `incomplete`. A stack deeper than
// kMaxFrames keeps its innermost kMaxFrames and is `truncated`.
//
// Invariants
//   1. frames[0, depth) are root first; frames[depth-1] is the caller of the hook.
//   2. frames[0, unchanged) are the same activations with the same pcs as in the previous capture
//      in this memory: the values that the caller wrote to their `node` are still right. unchanged
//      <= depth.
//   3. A pc is a return address; for a frame that a signal interrupted, its pc + 1.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

// The registers of the function that called the hook, as they will be when the hook returns.
struct StartRegisters {
  uintptr_t pc;  // the hook's return address
  uintptr_t sp;  // after the return
  uintptr_t rbp;
};

struct RememberedFrame {
  uintptr_t pc;
  uintptr_t slot;  // the stack word from which the return address was read
  uintptr_t rbp;   // the walk's rbp at this frame; right only if a later step reads it
  uint32_t node;   // the caller's field: the node id of the stack up to here (NodeTable)
  uint32_t flags;  // the unwinder's field (Arrival)
};

struct StackMemory {
  RememberedFrame frames[kMaxFrames];
  uint32_t depth;       // of the last capture; 0: nothing is remembered (also if it was truncated)
  uint32_t generation;  // module generation of the capture
  // The unwinder's own.
  uint64_t reserved[6];
};

struct CaptureResult {
  uint32_t depth;
  uint32_t unchanged;
  bool truncated;
  bool incomplete;
};

// Captures the stack that begins with `start`. Call it within the hook whose caller `start` is
// (FullWalker walks out of the hook itself and needs it on the stack).
CaptureResult CaptureStack(const StartRegisters& start, StackMemory& memory);

// Finds _dl_find_object and the ends of stacks. False: this libc has none (glibc before 2.35),
// nothing can be captured. Call once, before the first CaptureStack; allocates nothing.
bool InitUnwinder();

// True if `sp` and the lower `below` are on the calling thread's own stack, as far as it is known
// from captures in its `memory`. If `sp` is the stack pointer, the frames from `below` up to `sp`
// are then gone.
bool IsAboveOnOwnStack(const StackMemory& memory, uintptr_t sp, uintptr_t below);

// True if the capture in `memory` found the whole stack, by compact rules alone, on the calling
// thread's own stack. The words that it read then tell whether the stack is the same.
bool CanBeVerified(const StackMemory& memory);

// True if the stack that was captured into `memory`, with this depth, has a frame that a signal
// interrupted.
bool HasSignalFrame(const StackMemory& memory, uint32_t depth);

// Changes with InvalidateUnwinder; never 0. Results from before a change must not be used.
[[gnu::visibility("hidden")]] extern std::atomic<uint32_t> g_unwinder_generation;
inline uint32_t UnwinderGeneration() {
  return g_unwinder_generation.load(std::memory_order_acquire);
}

// A capture was left in the middle: forgets what the thread's last captures left in `memory`.
void ForgetCaptures(StackMemory& memory);

// Modules were unloaded: forgets what was learnt about their code, and no memory's frames count as
// unchanged any more. Call before and after a dlclose. Lock-free.
void InvalidateUnwinder();

}  // namespace memprof

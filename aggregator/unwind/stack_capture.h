// StackCapture: the call stack of the calling thread, root first, with what is unchanged since the
// thread's capture before.
//
// How. A walk's state is (pc, sp, rbp). StackWalker steps from a frame to its caller, mostly by a
// compact rule learnt from .eh_frame (8 ns where verifying takes 0.6). Real programs change only a
// few frames between two allocations, so the last capture is kept, and each new state is compared
// with the remembered one of the same slot. Where pc and slot are equal, and rbp if a later step
// reads it, the walks have met. From there towards the root the words that the remembered steps
// read (return address, saved rbp) are compared with what is there now; a step is a function of its
// state and of the words it reads, so as long as these are unchanged, so is the next state. At the
// first changed word the walk goes on by rules, from the last state that is still right, and may
// meet the remembered one again nearer to the root.
//
// "Same slot and same return address, so the rest is the same" would be wrong: in
// `root() { P(); P(); }` the frame below P has the same slot and return address both times, and P's
// own return address differs.
//
//   verified instead of walked   steps by compact rules on one stack
//   always walked again          special frames (realigned stack, signal trampoline, PLT, CFA in
//                                another register, switch to another stack): more was read than is
//                                recorded; and the last step of a stack whose end isn't a rule's
//   never reused                 stacks cut off at kMaxFrames; anything older than a dlclose
//
// Verifying goes from the meeting point outwards, never from the root inwards: so it reads exactly
// what the walk would read, and no word of a stack that has since been unmapped.
//
// Thread safety: CaptureStack works on the caller's StackMemory only; one memory is used by one
// thread at a time (a signal handler that interrupts a capture brings another one); it may be
// handed to another thread as it is. Async-signal-safe: takes no lock, allocates nothing, keeps
// errno.
// Memory: StackMemory is zero-initialised mmap'ed memory of the caller's; only what was used is
// touched, from both ends of `frames`. On the stack, less than 3 KiB.
// Failure: never. A stack whose outer frames can't be found is `incomplete`; a stack deeper than
// kMaxFrames keeps its innermost kMaxFrames and is `truncated`.
//
// Invariants
//   1. frames[0, depth) are root first; frames[depth-1] is the caller of the hook.
//   2. frames[0, unchanged) are the same activations with the same pcs as in the capture before in
//      this memory: what the caller noted in `node` of these is still right. unchanged <= depth.
//   3. A pc is a return address; of a frame that a signal interrupted, its pc + 1.
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
  uintptr_t slot;  // where the return address was read: its stack slot
  uintptr_t rbp;   // the walk's at this frame; right only where a later step reads it
  uint32_t node;   // the caller's: the stack's node id of this prefix (NodeTable)
  uint32_t flags;  // the unwinder's (Arrival)
};

struct StackMemory {
  RememberedFrame frames[kMaxFrames];
  uint32_t depth;       // of the last capture; 0: nothing is remembered (also if it was truncated)
  uint32_t generation;  // of the module generation when it was taken
  // The unwinder's own.
  uint64_t reserved[6];
};

struct CaptureResult {
  uint32_t depth;
  uint32_t unchanged;
  bool truncated;
  bool incomplete;
};

// Captures the stack that begins with `start`. Called within the hook whose caller `start` is
// (FullWalker walks out of the hook itself and needs it on the stack).
CaptureResult CaptureStack(const StartRegisters& start, StackMemory& memory);

// Finds _dl_find_object and the ends of stacks. False: this libc has none (glibc before 2.35),
// nothing can be captured. Call once, before the first CaptureStack; allocates nothing.
bool InitUnwinder();

// Whether `sp` and the lower `below` lie on the calling thread's own stack, as far as it is known
// from captures in its `memory`: then the frames from `below` up to `sp` are gone if `sp` is the
// stack pointer.
bool IsAboveOnOwnStack(const StackMemory& memory, uintptr_t sp, uintptr_t below);

// Whether the capture that is in `memory` found all of the stack, by compact rules alone, on the
// calling thread's own stack: whether the words it read can tell that the stack is the same.
bool CanBeVerified(const StackMemory& memory);

// Changes with InvalidateUnwinder; never 0. What was found out before is not to be trusted after.
[[gnu::visibility("hidden")]] extern std::atomic<uint32_t> g_unwinder_generation;
inline uint32_t UnwinderGeneration() {
  return g_unwinder_generation.load(std::memory_order_acquire);
}

// What the thread's last captures left in `memory` is forgotten: one was left in the middle.
void ForgetCaptures(StackMemory& memory);

// Modules were unloaded: what was learned about their code is forgotten, and no memory's frames
// count as unchanged any more. Call before and after a dlclose. Lock-free.
void InvalidateUnwinder();

}  // namespace memprof

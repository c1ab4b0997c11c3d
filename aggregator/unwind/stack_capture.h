// StackCapture: the call stack of the calling thread, root first, with what is unchanged since the
// thread's capture before.
//
// Thread safety: CaptureStack works on the caller's StackMemory only; one memory is used by one
// thread at a time (a signal handler that interrupts a capture brings another one).
// Async-signal-safe: takes no lock, allocates nothing, keeps errno.
// Memory: StackMemory is zero-initialised mmap'ed memory of the caller's; only what was used is
// touched.
// Failure: never. A stack whose outer frames can't be found is `incomplete`; a stack deeper than
// kMaxFrames keeps its innermost kMaxFrames and is `truncated`.
//
// Invariants
//   1. frames[0, depth) are root first; frames[depth-1] is the caller of the hook.
//   2. frames[0, unchanged) are the same activations with the same pcs as in the capture before in
//      this memory: what the caller noted in `node` of these is still right. unchanged <= depth.
//   3. A pc is a return address; of a frame that a signal interrupted, its pc + 1.
#pragma once

#include <cstdint>

#include "core/region_layout.h"

namespace memprof {

// Of the function that called the hook, as they will be when the hook returns.
struct StartRegisters {
  uintptr_t pc;  // the hook's return address
  uintptr_t sp;  // after the return
  uintptr_t rbp;
};

struct RememberedFrame {
  uintptr_t pc;
  uintptr_t slot;  // where the return address was read: its stack slot
  uintptr_t rbp;   // on entry to the walk of this frame, where a later rule consumes it
  uint32_t node;   // the caller's: the stack's node id of this prefix (NodeTable)
  uint32_t flags;  // the unwinder's
};

struct StackMemory {
  RememberedFrame frames[kMaxFrames];
  uint32_t depth;       // of the last capture; 0: nothing is remembered
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
// (the fallback walks out of the hook itself and needs it on the stack).
CaptureResult CaptureStack(const StartRegisters& start, StackMemory& memory);

// Finds _dl_find_object. False: this libc has none (glibc before 2.35), nothing can be captured.
// Call once, before the first CaptureStack; allocates nothing.
bool InitUnwinder();

// Opens libunwind (dlopen: RTLD_LOCAL | RTLD_NOW) for frames that the rules can't express. Call
// once, from the library's constructor, never from a hook. False: not there; those stacks stay
// incomplete.
bool LoadUnwinderFallback();

// Modules were unloaded: what was learned about their code is forgotten, and no memory's frames
// count as unchanged any more. Call before and after a dlclose. Lock-free.
void InvalidateUnwinder();

}  // namespace memprof

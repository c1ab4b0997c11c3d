// FrameChain: the Python frames of a thread, read from the interpreter's own structures.
//
//   thread state ─► innermost frame ─► its caller ─► … ─► outermost
//
// Python frames that one activation of the interpreter's loop runs are one segment. A segment ends
// with an address within the C frame of that activation, by which it is placed between the native
// frames (frame_places.h):
//
//   kShims        a shim frame in the chain             F F shim F shim
//   kCFrames      a record of its own for each segment  F F | F |
//   kEvalCalls    no address: each segment has one frame, and the loop's activations are counted
//
// The chain is that of the calling thread, which is not running Python code at this moment: nobody
// changes it meanwhile. It is nevertheless not trusted: a frame is read only if its address is
// plausible and its memory readable, and at most kCapacity of them.
//
// Thread safety: a value of one thread. Async-signal-safe.
#pragma once

#include <cstdint>

#include "aggregator/python/interpreter_layout.h"
#include "aggregator/python/interpreter_memory.h"

namespace memprof {

struct PythonFrame {
  uintptr_t address;
  uintptr_t code;         // 0: a shim
  uintptr_t code_word;    // the word that has it
  uintptr_t instruction;  // the word as it was read
  uintptr_t previous;
  uint64_t word;  // PythonWord; 0: none, reports don't show it. Set by the caller.
  int32_t after;  // the native frame that it follows; -1: it is before all of them
};

struct FrameChain {
  static constexpr uint32_t kCapacity = 2 * kMaxPythonFrames;  // a shim for each frame

  // 3.11: the activations' records, innermost first, and the frame that each names.
  struct CFrame {
    uintptr_t address;
    uintptr_t frame;
  };

  uintptr_t thread_state;
  uintptr_t finalizing;  // the runtime's word
  uint32_t count;        // of frames, innermost first
  uint32_t cframe_count;
  bool cut;    // it goes on further out
  bool valid;  // false: something in it can't be right; there are no frames then
  PythonFrame frames[kCapacity];
  CFrame cframes[kCapacity];
};

// Reads the chain of `thread_state`; 0: the thread has none. The words of the frames aren't set.
void ReadChain(const InterpreterLayout& layout, const InterpreterMemory& memory,
               uintptr_t thread_state, uintptr_t finalizing, FrameChain& chain);

// The number of the frame's instruction in code units; -1: before the first one.
int32_t InstructionOf(const InterpreterLayout& layout, const PythonFrame& frame);

}  // namespace memprof

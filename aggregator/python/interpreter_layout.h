// InterpreterLayout: where CPython keeps what a stack's Python frames are read from.
//
// Up to 3.12 the offsets are in a table here. From 3.13 on the interpreter publishes them itself at
// the start of _PyRuntime; they are compared with those that this version is known to have, so that
// a build with another layout is refused instead of misread.
//
// Thread safety: pure.
#pragma once

#include <cstdint>

#include "core/protocol/python_layout.h"

namespace memprof {

// How the Python frames of one activation of the interpreter's loop are told from those of the
// next one further out.
enum class PythonBoundary : uint8_t {
  kEvalCalls,  // to 3.10: each Python frame has an activation of its own
  kCFrames,    // 3.11: each activation has a record on the C stack, which names its innermost frame
  kShims,      // from 3.12: each activation has a frame of its own in the chain, on the C stack
};

struct InterpreterLayout {
  uint32_t minor = 0;  // of version 3
  PythonBoundary boundary = PythonBoundary::kEvalCalls;
  PythonLines lines = PythonLines::kNone;
  // thread state
  uint32_t thread_frame = 0;   // the innermost frame; with has_cframe the innermost record
  bool has_cframe = false;     // …
  uint32_t cframe_frame = 0;   // the record's innermost frame
  uint32_t cframe_before = 0;  // 3.11: the record of the next activation further out
  // frame
  uint32_t frame_bytes = 0;  // as much of it as is read
  uint32_t frame_previous = 0;
  uint32_t frame_code = 0;
  uint32_t frame_instruction = 0;
  bool instruction_is_pointer = false;  // to the code unit; otherwise a number
  uint8_t instruction_shift = 0;        // makes such a number one of code units
  uint32_t frame_owner = 0;             // 0: frames have none
  uintptr_t code_mask = ~uintptr_t{0};
  // code object
  uint32_t code_first_line = 0;
  uint32_t code_file = 0;
  uint32_t code_name = 0;
  uint32_t code_lines = 0;
  uint32_t code_instructions = 0;  // its first code unit
  // str
  uint32_t string_ascii = 0;  // the characters of an ASCII string
  uint32_t string_other = 0;
  // _PyRuntime
  uint32_t runtime_finalizing = 0;
};

// Common to all versions from 3.8 to 3.15.
inline constexpr uint32_t kObjectType = 8;
inline constexpr uint32_t kTypeDealloc = 48;
inline constexpr uint32_t kStringLength = 16;
inline constexpr uint32_t kStringState = 32;
inline constexpr uint32_t kBytesSize = 16;
inline constexpr uint32_t kBytesData = 32;
inline constexpr uint8_t kShimOwner = 3;  // and above
inline constexpr uint32_t kMostFrameBytes = 112;

// The layout of version 3.`minor`, for 8 to 12. False: it is not in the table.
bool KnownLayout(uint32_t minor, InterpreterLayout& layout);

// The number of words of _PyRuntime that PublishedLayout reads.
inline constexpr uint32_t kPublishedWords = 96;

// The layout that an interpreter from 3.13 on publishes in the first words of its _PyRuntime.
PythonState PublishedLayout(const uint64_t (&words)[kPublishedWords], InterpreterLayout& layout);

}  // namespace memprof

#include "aggregator/python/interpreter_layout.h"

namespace memprof {
namespace {

// The part that 3.8 to 3.10 have in common: a frame is an object, and its place in the code a
// number.
InterpreterLayout FrameObjects(uint32_t minor) {
  InterpreterLayout layout;
  layout.minor = minor;
  layout.boundary = PythonBoundary::kEvalCalls;
  layout.lines = minor < 10 ? PythonLines::kLnotab : PythonLines::kRanges;
  layout.thread_frame = 24;
  layout.frame_previous = 24;
  layout.frame_code = 32;
  layout.frame_instruction = minor < 10 ? 104 : 96;
  layout.instruction_shift = minor < 10 ? 1 : 0;  // bytes before 3.10
  layout.frame_bytes = layout.frame_instruction + 8;
  layout.code_first_line = 40;
  layout.code_file = 104;
  layout.code_name = 112;
  layout.code_lines = 120;
  layout.string_ascii = 48;
  layout.string_other = 72;
  layout.runtime_finalizing = 16;
  return layout;
}

// The part that all versions from 3.11 on have in common.
InterpreterLayout InterpreterFrames(uint32_t minor) {
  InterpreterLayout layout;
  layout.minor = minor;
  layout.boundary = minor == 11 ? PythonBoundary::kCFrames : PythonBoundary::kShims;
  layout.lines = PythonLines::kLocations;
  layout.has_cframe = minor < 13;
  layout.thread_frame = minor < 13 ? 56 : 72;
  layout.cframe_frame = minor == 11 ? 8 : 0;
  layout.cframe_before = minor == 11 ? 16 : 8;
  layout.frame_bytes = 80;
  layout.frame_previous = minor == 11 ? 48 : 8;
  layout.frame_code = minor == 11 ? 32 : 0;
  layout.frame_instruction = 56;
  layout.instruction_is_pointer = true;
  layout.frame_owner = minor == 11 ? 69 : minor < 14 ? 70 : 74;
  // From 3.14 on the low bits say who holds the reference.
  if (minor >= 14) layout.code_mask = ~uintptr_t{7};
  layout.code_first_line = minor == 11 ? 72 : 68;
  layout.code_file = 112;
  layout.code_name = 128;
  layout.code_lines = 136;
  layout.code_instructions = minor == 11 ? 184 : minor == 12 ? 192 : minor == 13 ? 200 : 208;
  layout.string_ascii = minor == 11 ? 48 : 40;
  layout.string_other = minor == 11 ? 72 : 56;
  layout.runtime_finalizing = 24;
  return layout;
}

// Indices of the published words. Structures grew in the middle from version to version.
struct Published {
  uint32_t finalizing, current_frame, previous, executable, instruction, owner, file, qualname,
      lines, first_line, instructions, type, bytes_size, bytes_data, string_state, string_length,
      ascii_bytes;
};
constexpr Published kPublished13 = {4,  23, 29, 30, 31, 33, 35, 37, 38,
                                    39, 43, 45, 65, 66, 68, 69, 70};
constexpr Published kPublished14 = {4,  26, 32, 33, 34, 36, 40, 42, 43,
                                    44, 48, 51, 75, 76, 78, 79, 80};
constexpr Published kPublished15 = {4,  26, 40, 41, 42, 44, 48, 50, 51,
                                    52, 56, 59, 87, 88, 90, 91, 92};

}  // namespace

bool KnownLayout(uint32_t minor, InterpreterLayout& layout) {
  if (minor < 8 || minor > 12) return false;
  layout = minor < 11 ? FrameObjects(minor) : InterpreterFrames(minor);
  return true;
}

PythonState PublishedLayout(const uint64_t (&words)[kPublishedWords], InterpreterLayout& layout) {
  constexpr uint64_t kCookie = 0x7970677562656478;  // "xdebugpy"
  if (words[0] != kCookie) return PythonState::kUnknownVersion;
  const uint64_t major = words[1] >> 24;
  const auto minor = static_cast<uint32_t>(words[1] >> 16 & 0xff);
  if (major != 3 || minor < 13 || minor > 15) return PythonState::kUnknownVersion;
  if (words[2] != 0) return PythonState::kFreeThreaded;
  const Published at = minor == 13 ? kPublished13 : minor == 14 ? kPublished14 : kPublished15;
  layout = InterpreterFrames(minor);
  if (words[at.finalizing] > 1 << 20) return PythonState::kUnknownVersion;
  layout.runtime_finalizing = static_cast<uint32_t>(words[at.finalizing]);
  const bool as_known =
      words[at.current_frame] == layout.thread_frame &&
      words[at.previous] == layout.frame_previous && words[at.executable] == layout.frame_code &&
      words[at.instruction] == layout.frame_instruction && words[at.owner] == layout.frame_owner &&
      words[at.file] == layout.code_file && words[at.qualname] == layout.code_name &&
      words[at.lines] == layout.code_lines && words[at.first_line] == layout.code_first_line &&
      words[at.instructions] == layout.code_instructions && words[at.type] == kObjectType &&
      words[at.bytes_size] == kBytesSize && words[at.bytes_data] == kBytesData &&
      words[at.string_state] == kStringState && words[at.string_length] == kStringLength &&
      words[at.ascii_bytes] == layout.string_ascii;
  return as_known ? PythonState::kFrames : PythonState::kUnknownVersion;
}

}  // namespace memprof

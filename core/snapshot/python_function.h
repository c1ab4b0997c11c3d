// Python frames in a snapshot: a frame without a module whose offset has the function and the line.
//
//   bit 63    1: a Python frame
//   62 … 24   index in Snapshot::python
//   23 … 0    line; 0: not known
//
// Frames have lines and no bytecode offsets: two instructions of one line are one frame, also
// in captures of different versions of the interpreter.
//
// Thread safety: plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace memprof {

struct SnapshotPythonFunction {
  std::string file;         // as the interpreter has it: "/srv/app/a.py", "<string>"
  std::string function;     // qualified: "Cache.load", "build.<locals>.<lambda>"
  uint32_t first_line = 0;  // 0: not known
  friend bool operator==(const SnapshotPythonFunction&, const SnapshotPythonFunction&) = default;
  friend auto operator<=>(const SnapshotPythonFunction&, const SnapshotPythonFunction&) = default;
};

inline constexpr uint64_t kPythonFrame = uint64_t{1} << 63;
inline constexpr unsigned kPythonLineBits = 24;
inline constexpr uint32_t kMostPythonLine = (1u << kPythonLineBits) - 1;

inline constexpr uint64_t PythonOffset(uint32_t function, uint32_t line) {
  return kPythonFrame | uint64_t{function} << kPythonLineBits | std::min(line, kMostPythonLine);
}
inline constexpr bool IsPythonOffset(uint64_t offset) { return (offset & kPythonFrame) != 0; }
inline constexpr uint64_t PythonFunctionOf(uint64_t offset) {
  return (offset & ~kPythonFrame) >> kPythonLineBits;
}
inline constexpr uint32_t PythonLineOf(uint64_t offset) {
  return static_cast<uint32_t>(offset) & kMostPythonLine;
}

}  // namespace memprof

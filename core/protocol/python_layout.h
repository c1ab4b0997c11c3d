// How Python frames are kept in the region.
//
//   kPythonCodes   PythonCodeRecord  a code object that some recorded stack ran through
//   kPythonBytes   char              names, paths and line tables that these point into
//
// A Python frame is a node of the call tree like a native one. Its word, in the place of the return
// address, has the code's record and the instruction:
//
//   bit 63    1: a Python frame
//   62 … 32   index in kPythonCodes
//   31 … 0    number of the instruction in code units (2 bytes), plus one; 0: before the first one
//
// A record is written completely before its `filled` is released. Two records may be equal: they
// are merged when read.
//
// Everything here is freestanding, as region_layout.h.
#pragma once

#include <atomic>
#include <cstdint>

namespace memprof {

// How the line table of a code object is written. It changed between versions of the interpreter.
enum class PythonLines : uint32_t {
  kNone = 0,      // the table is missing: only the first line is known
  kLnotab = 1,    // to 3.9: pairs of steps of bytes and lines
  kRanges = 2,    // 3.10: pairs, and instructions without a line
  kLocations = 3  // from 3.11: entries of variable length
};
inline constexpr uint32_t kPythonLinesKinds = 4;

struct PythonCodeRecord {
  uint32_t file_offset;  // in kPythonBytes, likewise the others
  uint32_t file_bytes;
  uint32_t name_offset;
  uint32_t name_bytes;
  uint32_t lines_offset;
  uint32_t lines_bytes;
  int32_t first_line;
  uint32_t lines;                // PythonLines
  std::atomic<uint32_t> filled;  // 1; released last
  uint32_t reserved;
};
static_assert(sizeof(PythonCodeRecord) == 40);

inline constexpr uint32_t kMaxPythonFrames = 500;  // the innermost ones of a stack that are kept
inline constexpr uint32_t kMaxPythonCodes = 1u << 20;
inline constexpr uint32_t kLongestPythonFile = 4096;
inline constexpr uint32_t kLongestPythonName = 1024;
inline constexpr uint32_t kLongestPythonLines = 1u << 20;

inline constexpr uint64_t kPythonWord = uint64_t{1} << 63;
inline constexpr uint64_t PythonWord(uint32_t code, int32_t instruction) {
  return kPythonWord | uint64_t{code} << 32 | static_cast<uint32_t>(instruction + 1);
}
inline constexpr bool IsPythonWord(uint64_t word) { return (word & kPythonWord) != 0; }
inline constexpr uint32_t PythonCodeOf(uint64_t word) {
  return static_cast<uint32_t>(word >> 32) & 0x7fffffffu;
}
inline constexpr int32_t PythonInstructionOf(uint64_t word) {
  return static_cast<int32_t>(static_cast<uint32_t>(word) - 1);
}

// RegionHeader.python: whether stacks have Python frames.
enum class PythonState : uint32_t {
  kNoInterpreter = 0,
  kFrames = 1,
  kUnknownVersion = 2,  // an interpreter whose layout isn't known
  kFreeThreaded = 3,    // a build without the global lock
  kUnsuitable = 4,      // something that is needed wasn't found in the interpreter
};

// RegionHeader.python_objects: whether an interpreter's objects are counted.
enum class PythonObjects : uint32_t {
  kNotAsked = 0,  // or there is no interpreter that is known
  kCounted = 1,
  kLate = 2,  // its allocator was in use already: it was opened while the program ran
};

}  // namespace memprof

// CodeObject: what a report needs of a code object: its file, qualified name, first line and line
// table, read from the interpreter's memory.
//
// Texts are read in pieces and given to a sink as UTF-8, so that no buffer of their size is needed.
//
// Thread safety: a value of one thread. Async-signal-safe.
// Failure: OpenCode refuses what is no code object. A text that can't be read is empty.
#pragma once

#include <cstdint>

#include "aggregator/python/interpreter_layout.h"
#include "aggregator/python/interpreter_memory.h"

namespace memprof {

// A str of the interpreter.
struct PythonText {
  uintptr_t data = 0;
  uint64_t length = 0;  // characters
  uint32_t width = 1;   // bytes a character: 1, 2 or 4
};

struct CodeObject {
  PythonText file;
  PythonText name;
  uintptr_t lines = 0;  // the bytes of the line table
  uint64_t lines_bytes = 0;
  int32_t first_line = 0;
  bool stands_for_native = false;  // the interpreter's own: no function of the program
};

// `code_type`: the address of the type of code objects. False: there is no code object.
bool OpenCode(const InterpreterLayout& layout, const InterpreterMemory& memory, uintptr_t code_type,
              uintptr_t address, CodeObject& code);

// Calls sink(bytes, count) for pieces of the text, at most `most` bytes in all, never a part of a
// character. Returns the number of bytes.
template <typename Sink>
uint32_t ReadText(const InterpreterMemory& memory, const PythonText& text, uint32_t most,
                  Sink sink);

// The same for the line table, which is left out if it is longer than `most`.
template <typename Sink>
uint32_t ReadLines(const InterpreterMemory& memory, const CodeObject& code, uint32_t most,
                   Sink sink);

// --- implementation ------------------------------------------------------------------------------

// Writes a character as UTF-8; returns the number of bytes, at most 4. Half of a surrogate pair has
// no such form, and is written as a question mark.
inline uint32_t EncodeUtf8(uint32_t character, unsigned char (&to)[4]) {
  if (character < 0x80) {
    to[0] = static_cast<unsigned char>(character);
    return 1;
  }
  if (character < 0x800) {
    to[0] = static_cast<unsigned char>(0xc0 | character >> 6);
    to[1] = static_cast<unsigned char>(0x80 | (character & 0x3f));
    return 2;
  }
  if (character - 0xd800 < 0x800 || character > 0x10ffff) {
    to[0] = '?';
    return 1;
  }
  if (character < 0x10000) {
    to[0] = static_cast<unsigned char>(0xe0 | character >> 12);
    to[1] = static_cast<unsigned char>(0x80 | (character >> 6 & 0x3f));
    to[2] = static_cast<unsigned char>(0x80 | (character & 0x3f));
    return 3;
  }
  to[0] = static_cast<unsigned char>(0xf0 | character >> 18);
  to[1] = static_cast<unsigned char>(0x80 | (character >> 12 & 0x3f));
  to[2] = static_cast<unsigned char>(0x80 | (character >> 6 & 0x3f));
  to[3] = static_cast<unsigned char>(0x80 | (character & 0x3f));
  return 4;
}

template <typename Sink>
uint32_t ReadText(const InterpreterMemory& memory, const PythonText& text, uint32_t most,
                  Sink sink) {
  constexpr uint32_t kPiece = 128;
  unsigned char piece[kPiece];
  uint32_t written = 0;
  for (uint64_t at = 0; at < text.length;) {
    const uint64_t left = text.length - at;
    const auto count =
        static_cast<uint32_t>(left < kPiece / text.width ? left : kPiece / text.width);
    if (!memory.Copy(text.data + at * text.width, piece, size_t{count} * text.width))
      return written;
    at += count;
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t character = 0;
      __builtin_memcpy(&character, piece + i * text.width, text.width);
      unsigned char encoded[4];
      const uint32_t bytes = EncodeUtf8(character, encoded);
      if (bytes > most - written) return written;
      sink(encoded, bytes);
      written += bytes;
    }
  }
  return written;
}

template <typename Sink>
uint32_t ReadLines(const InterpreterMemory& memory, const CodeObject& code, uint32_t most,
                   Sink sink) {
  constexpr uint32_t kPiece = 256;
  unsigned char piece[kPiece];
  if (code.lines_bytes > most) return 0;
  uint32_t written = 0;
  while (written < code.lines_bytes) {
    const uint64_t left = code.lines_bytes - written;
    const auto count = static_cast<uint32_t>(left < kPiece ? left : kPiece);
    if (!memory.Copy(code.lines + written, piece, count)) return written;
    sink(piece, count);
    written += count;
  }
  return written;
}

}  // namespace memprof

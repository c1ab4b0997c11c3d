// Makes foreign text (names in binaries, of processes and files, answers from a socket) safe to
// print.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

namespace memprof {

inline bool IsUtf8Continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Replaces control characters, marks of writing direction and broken UTF-8 by '?', so that no name
// can control the terminal or look like a line of memprof's own.
std::string Printable(std::string_view text);

// The same JSON, with the characters above in its strings as \uXXXX: JSON lets them stand as they are,
// and a terminal would obey them. Pre: well-formed UTF-8.
std::string WithEscapedControls(std::string_view json);

}  // namespace memprof

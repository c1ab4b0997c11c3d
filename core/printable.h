// Text of others (names in binaries, processes, files, answers of a socket) for people to read.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

namespace memprof {

inline bool IsUtf8Continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Control characters, marks that turn the direction of writing and broken UTF-8 become '?', so that
// no name can drive the terminal, or look like a line of ours.
std::string Printable(std::string_view text);

}  // namespace memprof

// How a report looks on what it is written to.
//
// Thread safety: pure, but for the look at stdout and the environment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memprof {

struct TextStyle {
  size_t width = 100;   // columns
  bool colour = false;  // escapes allowed
};

// For stdout: its width if it is a terminal, else COLUMNS, else 100; colour only on a terminal and
// without NO_COLOR.
TextStyle StyleOfStdout();

std::string Bold(std::string_view text, const TextStyle& style);
std::string Dim(std::string_view text, const TextStyle& style);

// Names come from foreign binaries: control characters and broken UTF-8 become '?', so that no
// name can drive the terminal.
std::string Printable(std::string_view text);

// Columns that printable text takes (of UTF-8, its characters).
size_t Columns(std::string_view text);

// At most `columns` of it, the middle left out: "std::vector<…>::push_back".
std::string Shortened(std::string_view text, size_t columns);
std::string PaddedLeft(std::string_view text, size_t columns);   // right-aligned
std::string PaddedRight(std::string_view text, size_t columns);  // left-aligned

}  // namespace memprof

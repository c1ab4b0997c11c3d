// The style of a report's text for the device that it is written to.
//
// Thread safety: pure, except that it looks at stdout and the environment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/printable.h"  // every report needs it

namespace memprof {

struct TextStyle {
  size_t width = 100;   // columns
  bool colour = false;  // escapes allowed
};

// COLUMNS, else 100; no escapes.
TextStyle StyleOfFile();
// A terminal's width, and escapes unless NO_COLOR is set; if stdout is no terminal, as a file.
TextStyle StyleOfStdout();

std::string Bold(std::string_view text, const TextStyle& style);
std::string Dim(std::string_view text, const TextStyle& style);
std::string Red(std::string_view text, const TextStyle& style);
std::string Green(std::string_view text, const TextStyle& style);

// The number of columns that printable text takes (the number of its UTF-8 characters).
size_t Columns(std::string_view text);

// The text in at most `columns`, with its middle left out: "std::vector<…>::push_back".
std::string Shortened(std::string_view text, size_t columns);
// A chain of callers, "← Inner ← … ← main", with whole frames left out. Other text as Shortened.
std::string ShortenedCallers(std::string_view text, size_t columns);
// The same, with its front left out: "…/cache/entry.cc:12".
std::string ShortenedFront(std::string_view text, size_t columns);
std::string PaddedLeft(std::string_view text, size_t columns);   // right-aligned
std::string PaddedRight(std::string_view text, size_t columns);  // left-aligned

// Lines of at most `width` columns, broken at spaces. Each begins with `indent` spaces, except the
// first, which continues a line. Ends with a newline.
std::string Wrapped(std::string_view text, size_t indent, size_t width);

}  // namespace memprof

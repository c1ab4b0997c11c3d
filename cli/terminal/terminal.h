// How a report looks on what it is written to.
//
// Thread safety: pure, but for the look at stdout and the environment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/printable.h"  // which every report needs

namespace memprof {

struct TextStyle {
  size_t width = 100;   // columns
  bool colour = false;  // escapes allowed
};

// COLUMNS, else 100; no escapes.
TextStyle StyleOfFile();
// A terminal's width and, without NO_COLOR, escapes; else as a file.
TextStyle StyleOfStdout();

std::string Bold(std::string_view text, const TextStyle& style);
std::string Dim(std::string_view text, const TextStyle& style);
std::string Red(std::string_view text, const TextStyle& style);
std::string Green(std::string_view text, const TextStyle& style);

// Columns that printable text takes (of UTF-8, its characters).
size_t Columns(std::string_view text);

// At most `columns` of it, the middle left out: "std::vector<…>::push_back".
std::string Shortened(std::string_view text, size_t columns);
// The same, the front left out: "…/cache/entry.cc:12".
std::string ShortenedFront(std::string_view text, size_t columns);
std::string PaddedLeft(std::string_view text, size_t columns);   // right-aligned
std::string PaddedRight(std::string_view text, size_t columns);  // left-aligned

// Lines of at most `width` columns, broken at spaces; each begins with `indent` spaces, but the
// first, which follows what stands there already. Ends with a newline.
std::string Wrapped(std::string_view text, size_t indent, size_t width);

}  // namespace memprof

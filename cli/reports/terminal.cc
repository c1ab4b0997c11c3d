#include "cli/reports/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace memprof {
namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kWidest = 1000;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Length of the well-formed UTF-8 character at the start of `text`, or 0.
size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80   ? 1
                       : lead < 0xc2 ? 0
                       : lead < 0xe0 ? 2
                       : lead < 0xf0 ? 3
                       : lead < 0xf5 ? 4
                                     : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  // Longer than needed, half of a surrogate pair, beyond the last character.
  if (bytes >= 3) {
    const auto second = static_cast<unsigned char>(text[1]);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90)) {
      return 0;
    }
  }
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  return bytes;
}

// Drives a terminal (C0, DEL, C1) or makes a line look like another one (the marks and overrides
// of direction: U+200E to U+200F, U+2028 to U+202E, U+2066 to U+2069).
bool IsDangerous(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7f;
  if (character.size() == 2) {
    return lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  }
  return (character >= "\u200e" && character <= "\u200f") ||
         (character >= "\u2028" && character <= "\u202e") ||
         (character >= "\u2066" && character <= "\u2069");
}

// The bytes that the first `characters` of it take.
size_t BytesOf(std::string_view text, size_t characters) {
  size_t at = 0;
  for (; characters > 0 && at < text.size(); --characters) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
  }
  return at;
}

std::string Escaped(const char* code, std::string_view text, const TextStyle& style) {
  return style.colour ? std::string(code) + std::string(text) + "\x1b[0m" : std::string(text);
}

}  // namespace

TextStyle StyleOfFile() {
  TextStyle style;
  const char* columns = std::getenv("COLUMNS");
  const long width = columns != nullptr ? std::strtol(columns, nullptr, 10) : 0;
  if (width > 0) style.width = static_cast<size_t>(width);
  style.width = std::clamp(style.width, kNarrowest, kWidest);
  return style;
}

TextStyle StyleOfStdout() {
  TextStyle style = StyleOfFile();
  if (isatty(STDOUT_FILENO) == 0) return style;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = std::clamp<size_t>(size.ws_col, kNarrowest, kWidest);
  }
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  style.colour = (no_colour == nullptr || *no_colour == 0) && terminal != nullptr &&
                 std::string_view(terminal) != "dumb";
  return style;
}

std::string Bold(std::string_view text, const TextStyle& style) {
  return Escaped("\x1b[1m", text, style);
}
std::string Dim(std::string_view text, const TextStyle& style) {
  return Escaped("\x1b[2m", text, style);
}
std::string Red(std::string_view text, const TextStyle& style) {
  return Escaped("\x1b[31m", text, style);
}
std::string Green(std::string_view text, const TextStyle& style) {
  return Escaped("\x1b[32m", text, style);
}

std::string Printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0 || IsDangerous(text.substr(0, bytes))) {
      result += '?';
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return result;
}

size_t Columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

std::string Shortened(std::string_view text, size_t columns) {
  if (Columns(text) <= columns) return std::string(text);
  if (columns < 2) return std::string(columns, '.');
  const size_t tail = (columns - 1) * 2 / 5;
  const size_t head = columns - 1 - tail;
  return std::string(text.substr(0, BytesOf(text, head))) + "…" +
         std::string(text.substr(BytesOf(text, Columns(text) - tail)));
}

std::string ShortenedFront(std::string_view text, size_t columns) {
  const size_t have = Columns(text);
  if (have <= columns) return std::string(text);
  if (columns < 2) return std::string(columns, '.');
  return "…" + std::string(text.substr(BytesOf(text, have - (columns - 1))));
}

std::string PaddedLeft(std::string_view text, size_t columns) {
  const size_t have = Columns(text);
  return std::string(have < columns ? columns - have : 0, ' ') + std::string(text);
}

std::string PaddedRight(std::string_view text, size_t columns) {
  const size_t have = Columns(text);
  return std::string(text) + std::string(have < columns ? columns - have : 0, ' ');
}

std::string Wrapped(std::string_view text, size_t indent, size_t width) {
  std::string result;
  size_t used = indent;
  bool fresh = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!fresh && used + 1 + Columns(word) > width) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
      fresh = true;
    }
    if (!fresh) result += ' ';
    result += word;
    used += Columns(word) + (fresh ? 0 : 1);
    fresh = false;
  }
  return result + "\n";
}

}  // namespace memprof

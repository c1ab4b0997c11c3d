#include "cli/reports/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace memprof {
namespace {

constexpr size_t kNarrowest = 40;

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
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  return bytes;
}

std::string Escaped(const char* code, std::string_view text, const TextStyle& style) {
  return style.colour ? std::string(code) + std::string(text) + "\x1b[0m" : std::string(text);
}

}  // namespace

TextStyle StyleOfStdout() {
  TextStyle style;
  const char* columns = std::getenv("COLUMNS");
  if (columns != nullptr && std::atoi(columns) > 0) {
    style.width = static_cast<size_t>(std::atoi(columns));
  }
  if (isatty(STDOUT_FILENO) != 0) {
    winsize size = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    style.colour = (no_colour == nullptr || *no_colour == 0) && terminal != nullptr &&
                   std::string_view(terminal) != "dumb";
  }
  style.width = std::max(style.width, kNarrowest);
  return style;
}

std::string Bold(std::string_view text, const TextStyle& style) {
  return Escaped("\x1b[1m", text, style);
}
std::string Dim(std::string_view text, const TextStyle& style) {
  return Escaped("\x1b[2m", text, style);
}

std::string Printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F are control characters too.
    const bool control = (bytes == 1 && (lead < 0x20 || lead == 0x7f)) ||
                         (bytes == 2 && lead == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0);
    if (bytes == 0 || control) {
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
  auto after = [&](size_t characters) {  // the byte where that many characters end
    size_t at = 0;
    for (; characters > 0; --characters) {
      ++at;
      while (at < text.size() && IsContinuation(text[at])) ++at;
    }
    return at;
  };
  return std::string(text.substr(0, after(head))) + "…" +
         std::string(text.substr(after(Columns(text) - tail)));
}

std::string PaddedLeft(std::string_view text, size_t columns) {
  const size_t have = Columns(text);
  return std::string(have < columns ? columns - have : 0, ' ') + std::string(text);
}

std::string PaddedRight(std::string_view text, size_t columns) {
  const size_t have = Columns(text);
  return std::string(text) + std::string(have < columns ? columns - have : 0, ' ');
}

}  // namespace memprof

#include "cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace memprof {
namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kWidest = 1000;

// The number of bytes that the first `characters` take.
size_t BytesOf(std::string_view text, size_t characters) {
  size_t at = 0;
  for (; characters > 0 && at < text.size(); --characters) {
    ++at;
    while (at < text.size() && IsUtf8Continuation(text[at])) ++at;
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

size_t Columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsUtf8Continuation(c); }));
}

std::string Shortened(std::string_view text, size_t columns) {
  if (Columns(text) <= columns) return std::string(text);
  if (columns < 2) return std::string(columns, '.');
  const size_t tail = (columns - 1) * 2 / 5;
  const size_t head = columns - 1 - tail;
  return std::string(text.substr(0, BytesOf(text, head))) + "…" +
         std::string(text.substr(BytesOf(text, Columns(text) - tail)));
}

std::string ShortenedCallers(std::string_view text, size_t columns) {
  constexpr std::string_view kArrow = " ← ", kLeftOut = " ← …";
  const size_t last_arrow = text.rfind(kArrow);
  if (Columns(text) <= columns || last_arrow == std::string_view::npos) {
    return Shortened(text, columns);
  }
  const std::string end = std::string(kLeftOut) + std::string(text.substr(last_arrow));
  constexpr size_t kLeastOfFirst = 8;
  if (columns < Columns(end) + kLeastOfFirst)
    return Shortened(text.substr(0, text.find(kArrow)), columns);
  const size_t room = columns - Columns(end);
  std::string_view kept = text.substr(0, last_arrow);
  while (Columns(kept) > room) {
    const size_t arrow = kept.rfind(kArrow);
    if (arrow == std::string_view::npos) return Shortened(kept, room) + end;
    kept = kept.substr(0, arrow);
  }
  return std::string(kept) + end;
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

#include "cli/basics/ascii_text.h"

#include <cstdlib>
#include <iterator>
#include <utility>

namespace memprof {
namespace {

constexpr std::pair<std::string_view, char> kLikeness[] = {
    {"…", '.'}, {"─", '-'}, {"−", '-'}, {"–", '-'}, {"│", '|'}, {"├", '+'}, {"└", '+'},
    {"┌", '+'}, {"┐", '+'}, {"┬", '+'}, {"←", '<'}, {"→", '>'}, {"►", '>'}, {"▸", '>'},
    {"▾", 'v'}, {"↓", 'v'}, {"↑", '^'}, {"≈", '~'}, {"±", '~'}, {"·", '.'}, {"×", 'x'},
    {"²", '2'}, {"µ", 'u'}, {"≥", '>'}, {"█", '#'}, {"▇", '#'}, {"▆", '#'}, {"▅", '+'},
    {"▄", '+'}, {"▃", '-'}, {"▂", '-'}, {"▁", '_'}, {"▕", '|'}};

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

}  // namespace

bool LocaleIsAscii() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == 0) continue;
    const std::string_view locale = value;
    return locale == "C" || locale == "POSIX";
  }
  return false;
}

std::string AsciiText(std::string_view text) {
  std::string ascii;
  ascii.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    size_t bytes = 1;
    while (i + bytes < text.size() && IsContinuation(text[i + bytes])) ++bytes;
    const std::string_view character = text.substr(i, bytes);
    i += bytes;
    if (bytes == 1) {
      ascii += static_cast<unsigned char>(character[0]) < 0x80 ? character[0] : '?';
      continue;
    }
    char likeness = '?';
    for (const auto& [known, like] : kLikeness) {
      if (character == known) likeness = like;
    }
    ascii += likeness;
  }
  return ascii;
}

std::string ForLocale(std::string text) {
  if (LocaleIsAscii()) return AsciiText(text);
  return text;
}

}  // namespace memprof

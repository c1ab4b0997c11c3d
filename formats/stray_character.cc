#include "formats/stray_character.h"

#include <algorithm>
#include <string>

namespace memprof {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The number of bytes at `at` that open a string: 3 for a multi-line string, 1, or 0.
size_t QuoteAt(std::string_view text, size_t at) {
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return 0;
  return text.substr(at, 3) == std::string(3, quote) ? 3 : 1;
}

// The position after the string that `quote` bytes open at `at`. An unclosed string ends with its
// line, or with the text.
size_t BehindString(std::string_view text, size_t at, size_t quote) {
  const std::string end(quote, text[at]);
  for (size_t i = at + quote; i < text.size(); ++i) {
    if (text[at] == '"' && text[i] == '\\') {
      ++i;
    } else if (text.substr(i, quote) == end) {
      return i + quote;
    } else if (quote == 1 && text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

TextPlace PlaceOf(std::string_view text, size_t at) {
  TextPlace place;
  for (const char c : text.substr(0, at)) {
    if (c == '\n') {
      place = {place.line + 1, 1};
    } else if ((c & 0xc0) != 0x80) {  // not a continuation byte of UTF-8
      ++place.column;
    }
  }
  return place;
}

}  // namespace

std::optional<TextPlace> StrayCharacter(std::string_view toml) {
  if (toml.starts_with(kByteOrderMark)) toml.remove_prefix(kByteOrderMark.size());
  for (size_t at = 0; at < toml.size();) {
    if (static_cast<unsigned char>(toml[at]) >= 0x80) return PlaceOf(toml, at);
    if (const size_t quote = QuoteAt(toml, at); quote != 0) {
      at = BehindString(toml, at, quote);
    } else if (toml[at] == '#') {
      at = std::min(toml.find('\n', at), toml.size());
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace memprof

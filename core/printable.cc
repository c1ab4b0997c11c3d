#include "core/printable.h"

#include <algorithm>
#include <cstddef>

namespace memprof {
namespace {

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
  // Rejects overlong forms, halves of surrogate pairs, and values beyond the last character.
  if (bytes >= 3) {
    const auto second = static_cast<unsigned char>(text[1]);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90)) {
      return 0;
    }
  }
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsUtf8Continuation(text[i])) return 0;
  }
  return bytes;
}

// Controls a terminal (C0, DEL, C1), or makes a line look like another one (the marks and overrides
// of direction: U+061C, U+200E to U+200F, U+2028 to U+202E, U+2066 to U+2069).
bool IsDangerous(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7f;
  if (character.size() == 2) {
    return character == "\u061c" ||
           (lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
  }
  return (character >= "\u200e" && character <= "\u200f") ||
         (character >= "\u2028" && character <= "\u202e") ||
         (character >= "\u2066" && character <= "\u2069");
}

}  // namespace

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

std::string WithEscapedControls(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  while (!json.empty()) {
    const size_t bytes = std::max<size_t>(CharacterBytes(json), 1);
    const std::string_view character = json.substr(0, bytes);
    // Shorter ones are escaped already, or lie between the strings.
    if ((bytes > 1 || character[0] == '\x7f') && IsDangerous(character)) {
      char32_t code = static_cast<unsigned char>(character[0]);
      if (bytes > 1) code &= bytes == 2 ? 0x1f : 0x0f;
      for (size_t i = 1; i < bytes; ++i) {
        code = code << 6 | (static_cast<unsigned char>(character[i]) & 0x3f);
      }
      constexpr char kDigits[] = "0123456789abcdef";
      result += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) result += kDigits[code >> shift & 0xf];
    } else {
      result += character;
    }
    json.remove_prefix(bytes);
  }
  return result;
}

}  // namespace memprof

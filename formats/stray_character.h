// StrayCharacter: the first character of a TOML text that isn't ASCII and stands neither in a
// string nor in a comment, where TOML has no place for it. toml++ 3.3 takes some of them for spaces
// or behaves in no defined way, so they are refused before it sees them.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memprof {

struct TextPlace {
  uint32_t line = 1;
  uint32_t column = 1;  // in characters
  friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

std::optional<TextPlace> StrayCharacter(std::string_view toml);

}  // namespace memprof

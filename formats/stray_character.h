// StrayCharacter: finds the first character of a TOML text that isn't ASCII and is neither in a
// string nor in a comment. TOML allows none there. toml++ 3.3 takes some of them for spaces, or its
// behaviour is undefined, so they are refused before it sees them.
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

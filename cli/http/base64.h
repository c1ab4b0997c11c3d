// Base64 by RFC 4648, with padding.
//
// Thread safety: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memprof {

std::string ToBase64(std::string_view bytes);
// Unset: it isn't base64. The padding may be missing.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace memprof

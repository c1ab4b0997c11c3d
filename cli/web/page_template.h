// The bundled page as the build made it, with one marker where the data goes.
//
// Thread safety: constants.
#pragma once

#include <string_view>

namespace memprof {

inline constexpr std::string_view kPageDataMarker = "@MEMPROF_PAGE_DATA@";

// Holds the marker exactly once: build.mjs refuses to make another.
std::string_view PageTemplate();

}  // namespace memprof

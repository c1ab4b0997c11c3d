// The bundled pages as the build made them, each with one marker where the data goes.
//
// Thread safety: constants.
#pragma once

#include <string_view>

namespace memprof {

inline constexpr std::string_view kPageDataMarker = "@MEMPROF_PAGE_DATA@";

// Each holds the marker exactly once: build.mjs refuses to make another.
std::string_view PageTemplate();
// The page that compares two captures.
std::string_view DiffPageTemplate();

}  // namespace memprof

// The bundled pages that the build makes, each with one marker for the data.
//
// Thread safety: constants.
#pragma once

#include <string_view>

namespace memprof {

inline constexpr std::string_view kPageDataMarker = "@MEMPROF_PAGE_DATA@";

// Each has the marker exactly once: build.mjs makes sure of it.
std::string_view PageTemplate();
// The page that compares two captures.
std::string_view DiffPageTemplate();

}  // namespace memprof

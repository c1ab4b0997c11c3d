// The last component of a path. A name without '/' is returned as it is.
//
// Thread safety: pure.
#pragma once

#include <string_view>

namespace memprof {

constexpr std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace memprof

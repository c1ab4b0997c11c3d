// Finds the libraries to preload (cli/basics/own_library.h says where they are).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace memprof {

struct Preflight;
class PrivateDirectory;

inline constexpr char kPreloadName[] = "libmemprof_preload.so";
// In the same folder: the hooks for jemalloc's extended interface.
inline constexpr char kJemallocPreloadName[] = "libmemprof_jemalloc.so";

// Failure: the library is missing, or /proc is.
Result<std::string> FindPreload();

// The library with the hooks of mallocx, in the tracker's folder.
Result<std::string> FindJemallocPreload(const std::string& preload);

// LD_PRELOAD is split at spaces and colons, "$" is expanded, and there is no quoting.
inline bool IsPreloadable(std::string_view path) {
  return path.find_first_of(" :;\t\n$") == std::string_view::npos;
}

// Our entries of LD_PRELOAD for that program: the tracker, and after it the hooks of mallocx if a
// library that the program starts with has that function.
Result<std::vector<std::string>> PreloadsFor(const Preflight& program, const std::string& preload);

// A path that LD_PRELOAD can hold: `preload` itself, or a link to it in `directory`.
Result<std::string> PreloadablePath(const std::string& preload, PrivateDirectory& directory);
// Such paths for all, joined as in LD_PRELOAD.
Result<std::string> PreloadablePaths(const std::vector<std::string>& preloads,
                                     PrivateDirectory& directory);
// The same without links. Failure: a path can't be in LD_PRELOAD.
Result<std::string> PreloadablePaths(const std::vector<std::string>& preloads);

}  // namespace memprof

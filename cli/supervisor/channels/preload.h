// What is preloaded, and where it is: ../lib/memprof/libmemprof_preload.so from our own executable,
// in the build tree and where it is installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace memprof {

struct Preflight;
class PrivateDirectory;

inline constexpr char kPreloadName[] = "libmemprof_preload.so";
// Beside it: the hooks of jemalloc's extended interface.
inline constexpr char kJemallocPreloadName[] = "libmemprof_jemalloc.so";

// Failure: it is missing, or /proc is.
Result<std::string> FindPreload();
Result<std::string> FindPreloadFor(const std::string& executable);

// The hooks of mallocx beside the tracker.
Result<std::string> FindJemallocPreload(const std::string& preload);

// The loader splits LD_PRELOAD at spaces and colons, expands "$" and can't quote.
inline bool IsPreloadable(std::string_view path) {
  return path.find_first_of(" :;\t\n$") == std::string_view::npos;
}

// Our entries of LD_PRELOAD for that program: the tracker, and behind it, where a library that the
// program starts with has mallocx, the hooks for that.
Result<std::vector<std::string>> PreloadsFor(const Preflight& program, const std::string& preload);

// A path that LD_PRELOAD can hold: `preload` itself, or a link to it in `directory`.
Result<std::string> PreloadablePath(const std::string& preload, PrivateDirectory& directory);
// Such paths of all, as LD_PRELOAD lists them.
Result<std::string> PreloadablePaths(const std::vector<std::string>& preloads,
                                     PrivateDirectory& directory);
// The same without links. Failure: there is one that LD_PRELOAD can't hold.
Result<std::string> PreloadablePaths(const std::vector<std::string>& preloads);

}  // namespace memprof

// Where the tracker library is: ../lib/memprof/libmemprof_preload.so from our own executable, in
// the build tree and where it is installed.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace memprof {

inline constexpr char kPreloadName[] = "libmemprof_preload.so";

// Failure: it is missing, or /proc is.
Result<std::string> FindPreload();
Result<std::string> FindPreloadFor(const std::string& executable);

// The loader splits LD_PRELOAD at spaces and colons, expands "$" and can't quote.
bool IsPreloadable(std::string_view path);

class PrivateDirectory;
// A path that LD_PRELOAD can hold: `preload` itself, or a link to it in `directory`.
Result<std::string> PreloadablePath(const std::string& preload, PrivateDirectory& directory);

}  // namespace memprof

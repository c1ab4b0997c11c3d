// Where the tracker library is: ../lib/memprof/libmemprof_preload.so from our own executable, in
// the build tree and where it is installed.
#pragma once

#include <string>

#include "core/result.h"

namespace memprof {

// The path to put into LD_PRELOAD. The loader splits that at spaces and colons and can't quote: then
// a link in `private_directory` stands for it (the caller removes it: PreloadLink).
Result<std::string> FindPreload();

inline constexpr char kPreloadName[] = "libmemprof_preload.so";

// A path that LD_PRELOAD can hold: `preload` itself, or a link to it in `directory`.
Result<std::string> PreloadablePath(const std::string& preload, const std::string& directory);

}  // namespace memprof

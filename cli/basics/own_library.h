// Finds memprof's own libraries: ../lib/memprof/NAME relative to our own executable, in the build tree
// and in an installation.
//
// Thread safety: pure, but for the file system. Failure: the library is missing, or /proc is.
#pragma once

#include <string>

#include "core/result.h"

namespace memprof {

Result<std::string> FindOwnLibrary(const std::string& name);
Result<std::string> FindOwnLibraryFor(const std::string& executable, const std::string& name);

}  // namespace memprof

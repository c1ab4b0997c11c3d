// Which Debian packages bring the debug info of files.
//
// Thread safety: pure, but for the process that it starts.
// Failure: on other systems, and for files of no package, there is nothing to name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memprof {

// Parallel to `files`; empty: not known.
std::vector<std::string> DebugPackageOfEach(const std::vector<std::string>& files);

// In order of the alphabet, each once.
std::vector<std::string> DebugPackagesOf(const std::vector<std::string>& files);

// From what "dpkg-query -S" prints: "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6".
std::vector<std::string> ParseDebugPackages(std::string_view text);

}  // namespace memprof

// Finds the Debian packages with the debug info of files.
//
// Thread safety: pure, except that it starts a process.
// Failure: on other systems, and for files of no package, the result is empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memprof {

// Parallel to `files`; empty: not known.
std::vector<std::string> DebugPackageOfEach(const std::vector<std::string>& files);

// Sorted, without repetitions.
std::vector<std::string> DebugPackagesOf(const std::vector<std::string>& files);

// Parses the output of "dpkg-query -S": "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6".
std::vector<std::string> ParseDebugPackages(std::string_view text);

}  // namespace memprof

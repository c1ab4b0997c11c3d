// The build-id of an ELF file.
//
// Thread safety: pure, but for the file.
#pragma once

#include <string>

namespace memprof {

// Lower-case hexadecimal; empty: the file has none, or can't be read.
std::string BuildIdOfFile(const std::string& path);

}  // namespace memprof

// What of a file's debug info elfutils can't read.
//
// Thread safety: pure, but for the file. Failure: a file that can't be read has nothing to say.
#pragma once

#include <string>

namespace memprof {

// A debug section is compressed otherwise than with zlib, with zstd for instance.
bool HasUnreadableCompression(const std::string& file);

}  // namespace memprof

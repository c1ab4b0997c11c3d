// Finds debug info that elfutils can't read, or must not be given.
//
// Thread safety: pure, but for the file. Failure: a file that can't be read gives false.
#pragma once

#include <elfutils/libdw.h>

#include <string>

namespace memprof {

// True if a debug section is compressed with another method than zlib, such as zstd.
bool HasUnreadableCompression(const std::string& file);

// True if a table of names ends in the middle of a name: elfutils 0.188 would read on behind the
// table. False for nullptr.
bool HasCutNames(Dwarf* dwarf);

}  // namespace memprof

// What of a file's debug info elfutils can't read, or must not be given.
//
// Thread safety: pure, but for the file. Failure: a file that can't be read has nothing to say.
#pragma once

#include <elfutils/libdw.h>

#include <string>

namespace memprof {

// A debug section is compressed otherwise than with zlib, with zstd for instance.
bool HasUnreadableCompression(const std::string& file);

// A table of names ends in the middle of one: elfutils 0.188 would read on behind the table.
// nullptr has none.
bool HasCutNames(Dwarf* dwarf);

}  // namespace memprof

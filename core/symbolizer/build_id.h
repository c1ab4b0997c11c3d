// The build-id of an ELF file.
//
// Thread safety: pure, but for the file.
#pragma once

#include <libelf.h>

#include <string>

namespace memprof {

// Lower-case hexadecimal; empty: the file has none, or can't be read.
std::string BuildIdOfFile(const std::string& path);
// The same for a file that is open; nullptr: one that can't be read.
std::string BuildIdOf(Elf* elf);

}  // namespace memprof

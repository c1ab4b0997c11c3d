// The build-id of an ELF file.
//
// Thread safety: pure, but for the file.
#pragma once

#include <libelf.h>

#include <string>
#include <vector>

struct Dwfl_Module;

namespace memprof {

// Lower-case hexadecimal; empty: the file has none, or can't be read.
std::string BuildIdOfFile(const std::string& path);
// The same for a file that is already open; nullptr stands for one that can't be read.
std::string BuildIdOf(Elf* elf);
std::string BuildIdOf(Dwfl_Module* module);

// The files "DIRECTORY/.build-id/ab/cdef.debug" that may have the debug info of a build; none
// without a build-id.
std::vector<std::string> DebugFilesByBuildId(const std::string& build_id,
                                             const std::vector<std::string>& directories);

}  // namespace memprof

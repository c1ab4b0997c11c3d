// LoadedModules: the files that the loader would map for a program.
//
// The program's own loader is asked ("ld.so --list"), so search paths, RPATH and hwcaps are as they
// will be; the program itself does not run. What it opens later (dlopen) can't be known.
//
// Thread safety: pure, but for the process that it starts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memprof {

struct LoadedModules {
  std::vector<std::string> paths;    // the program first
  std::vector<std::string> missing;  // names that the loader does not find
};

LoadedModules ListModules(const std::string& program, const std::string& loader,
                          const std::vector<std::string>& loader_options = {});

// The first library, the program itself aside, that exports mallocx: a jemalloc. Empty: none.
std::string MallocxLibrary(const LoadedModules& modules);

// From what the loader prints.
LoadedModules ParseModuleList(std::string_view text);

}  // namespace memprof

// LoadedModules: the files that the loader would map for a program.
//
// The program's own loader is asked ("ld.so --list"), so search paths, RPATH and hwcaps are as in
// the real run; the program itself does not run. Libraries that it opens later (dlopen) can't be
// known.
//
// Thread safety: pure, except that it starts a process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memprof {

struct LoadedModules {
  std::vector<std::string> paths;    // the program first
  std::vector<std::string> missing;  // names that the loader didn't find
};

LoadedModules ListModules(const std::string& program, const std::string& loader,
                          const std::vector<std::string>& loader_options = {});

// The first library (not the program itself) that exports mallocx: a jemalloc. Empty: none.
std::string MallocxLibrary(const LoadedModules& modules);

// Parses the loader's output.
LoadedModules ParseModuleList(std::string_view text);

}  // namespace memprof

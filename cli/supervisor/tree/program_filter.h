// ProgramFilter: which programs of a tree are profiled: run's --only and --skip.
//
// A pattern is a shell's: * ? [a-z]. It is held against the program's base name, and that of
// what the process calls itself (argv[0]). --skip wins; without --only all others are profiled.
// Thread safety: plain values.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace memprof {

struct ProgramFilter {
  std::vector<std::string> only;
  std::vector<std::string> skip;

  bool leaves_all() const { return only.empty() && skip.empty(); }
  // `names`: the program's.
  bool Takes(const std::vector<std::string>& names) const;
};

// By what names a process goes; none where it can't be asked.
std::vector<std::string> ProgramNamesOf(pid_t pid);

}  // namespace memprof

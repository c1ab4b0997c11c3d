// ProgramFilter: selects the programs of a tree that are profiled, by run's --only and --skip.
//
// A pattern is a shell's: * ? [a-z]. It is compared with the program's base name, and with that of
// its argv[0]. --skip wins; without --only all others are profiled.
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
  // `names` are the program's.
  bool Takes(const std::vector<std::string>& names) const;
};

// The names of a process's program; none if it can't be asked.
std::vector<std::string> ProgramNamesOf(pid_t pid);

}  // namespace memprof

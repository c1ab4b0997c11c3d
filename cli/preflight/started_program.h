// StartedProgram: which program a process runs. That is its executable, but for one that was
// started through the loader (loader_command.h), where the executable is the loader.
//
// Thread safety: pure. Failure: empty where the process is gone or may not be asked; the executable
// where it can't be told what the loader was given.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace memprof {

struct StartedProgram {
  std::string file;   // as it can be opened from here, whatever the process's root is
  std::string name;   // its base name
  std::string argv0;  // what it was called, as it was given
};

StartedProgram StartedProgramOf(pid_t pid);

}  // namespace memprof

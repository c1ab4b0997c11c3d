// StartedProgram: the program that a process runs. It is the executable, unless the process was
// started through the loader (loader_command.h): then the executable is the loader.
//
// Thread safety: pure. Failure: empty if the process is gone or may not be asked; the executable if
// the loader's arguments aren't known.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace memprof {

struct StartedProgram {
  std::string file;        // a path that can be opened from here, whatever the process's root is
  std::string name;        // the base name by which it was executed: "redis-server", a link
  std::string executable;  // that of the file: "redis-check-rdb"
  std::string argv0;       // its argv[0], unchanged
};

StartedProgram StartedProgramOf(pid_t pid);

}  // namespace memprof

// ProgramMark: distinguishes the program that a process runs from the next one that it executes.
//
//   executable         another file
//   auxiliary vector   the same file again: it has addresses that the kernel chooses anew at each
//                      exec
//
// If addresses aren't random (setarch -R), a program that executes its own file has the same mark
// by both. Its mappings have to tell then.
//
// Thread safety: pure functions. Failure: what /proc doesn't tell is unknown, and makes no
// difference.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace memprof {

struct ProgramMark {
  dev_t device = 0;  // of the executable; both 0: not known
  ino_t inode = 0;
  std::string auxiliary;  // empty: not known

  bool known() const { return device != 0 || inode != 0; }
};

ProgramMark MarkOf(pid_t pid);

// Whether a process with the mark `before` has executed another program since, by its mark now.
// Unset if one of the marks isn't known. (A process that was never known is assumed not to have
// changed.)
std::optional<bool> HasExecuted(const ProgramMark& before, const ProgramMark& now);

// True if the kernel chooses random addresses for programs that the process executes, or if that
// isn't known.
bool HasRandomAddresses(pid_t pid);

// Whether the process has the file mapped; unset: not known. Reads the list of mappings.
std::optional<bool> HasMapped(pid_t pid, int fd);

}  // namespace memprof

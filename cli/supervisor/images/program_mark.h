// ProgramMark: what tells the program that a process runs from the next one that it executes.
//
//   executable         another file
//   auxiliary vector   the same file again: it has addresses that the kernel chooses anew at each
//                      exec
//
// With addresses that aren't chosen by chance (setarch -R) a program that executes its own file is
// the same by both. Then what it has mapped must tell.
//
// Thread safety: pure functions. Failure: what /proc doesn't tell is not known, and no difference.
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

// Whether the process that had the one mark has executed something since, by its mark now. Nothing:
// one of them isn't known. (Who was never known is taken to stay what it is.)
std::optional<bool> HasExecuted(const ProgramMark& before, const ProgramMark& now);

// Whether the addresses of what the process executes are chosen by chance; true where it isn't
// known.
bool HasRandomAddresses(pid_t pid);

// Whether the process has the file mapped. Nothing: not known. It reads the list of mappings.
std::optional<bool> HasMapped(pid_t pid, int fd);

}  // namespace memprof

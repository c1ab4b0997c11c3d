// Preflight: can this program be profiled? Looked at before it starts, so that a refusal costs
// nothing and says why.
//
// Thread safety: any thread. Failure: a Refusal with the exit status and one line that says what to
// do; nothing is ever guessed: what can't be read is left to exec to refuse.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace memprof {

struct Refusal {
  int status;           // kExitRefused, kExitCannotExecute, kExitNotFound
  std::string message;  // one line
};

struct Preflight {
  std::string path;         // what will be executed: absolute or as given
  std::string interpreter;  // of a script: the program that really runs; else empty
  std::string loaded;       // of a loader: the program that it is to start; else empty
  std::string loader;       // the dynamic loader of what runs; empty: it is no ELF file
  std::vector<std::string> loader_options;  // with which it is run
  std::string name;                         // of the program, as the user called it
  std::string unseen_allocator;             // inside it (elf_facts.h)
  std::vector<std::string> warnings;

  // What the loader will load.
  const std::string& Runs() const {
    return !loaded.empty() ? loaded : interpreter.empty() ? path : interpreter;
  }
};

// PATH, or what execvp takes where it is not set.
std::string ProgramSearchPath();

// Looks the program up in `search_path` (as execvp does) and checks what would run. Its arguments
// say it of a loader that is run itself (loader_command.h). Pre: `command` isn't empty.
tl::expected<Preflight, Refusal> CheckProgram(const std::vector<std::string>& command,
                                              const std::string& search_path);
inline tl::expected<Preflight, Refusal> CheckProgram(const std::string& program,
                                                     const std::string& search_path) {
  return CheckProgram(std::vector<std::string>{program}, search_path);
}

}  // namespace memprof

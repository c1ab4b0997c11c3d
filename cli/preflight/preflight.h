// Preflight: checks whether a program can be profiled, before it starts, so that a refusal costs
// nothing and gives the reason.
//
// Thread safety: any thread. Failure: a Refusal with the exit status and one line that says what to
// do. Nothing is guessed: a file that can't be read is left to exec to refuse.
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
  std::string path;         // the file that will be executed: absolute or as given
  std::string interpreter;  // for a script: the program that really runs; else empty
  std::string loaded;       // for a loader: the program that it starts; else empty
  std::string loader;       // the dynamic loader of the program; empty: it is no ELF file
  std::vector<std::string> loader_options;  // the options that the loader is run with
  std::string name;                         // the program's name, as the user gave it
  std::string unseen_allocator;             // inside the program (elf_facts.h)
  std::vector<std::string> warnings;

  // The file that the loader will load.
  const std::string& Runs() const {
    return !loaded.empty() ? loaded : interpreter.empty() ? path : interpreter;
  }
};

// PATH, or execvp's default if it is not set.
std::string ProgramSearchPath();

// Looks the program up in `search_path` (as execvp does) and checks what would run. If it is a
// loader, its arguments name the program (loader_command.h). Pre: `command` isn't empty.
tl::expected<Preflight, Refusal> CheckProgram(const std::vector<std::string>& command,
                                              const std::string& search_path);
inline tl::expected<Preflight, Refusal> CheckProgram(const std::string& program,
                                                     const std::string& search_path) {
  return CheckProgram(std::vector<std::string>{program}, search_path);
}

}  // namespace memprof

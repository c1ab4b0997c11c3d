// LoaderCommand: what the loader is told to start where it is run as a program itself, as bundled
// applications do it: "ld-linux-x86-64.so.2 --library-path lib --argv0 name ./program ARGS".
//
// Thread safety: pure. Source: glibc's manual page ld.so(8), and elf/rtld.c.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace memprof {

struct LoaderCommand {
  std::vector<std::string> options;  // before the program, those that it is loaded with
  std::string only;                  // "--list", "--help", …: it starts nothing; empty: it does
  size_t program = 0;                // its index; 0: none is named
  std::string argv0;                 // what the program is told that it was called
};

// `command`: the loader's whole command line, its own name first.
LoaderCommand ReadLoaderCommand(const std::vector<std::string>& command);

}  // namespace memprof

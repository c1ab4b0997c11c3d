// LoaderCommand: the command line of a loader that is run as a program itself, as bundled
// applications do it: "ld-linux-x86-64.so.2 --library-path lib --argv0 name ./program ARGS".
//
// Thread safety: pure. Source: glibc's manual page ld.so(8), and elf/rtld.c.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace memprof {

struct LoaderCommand {
  // the options before the program, which affect how it is loaded
  std::vector<std::string> options;
  // "--list", "--help", …: nothing is started; empty: the program is
  std::string only;
  size_t program = 0;  // its index; 0: no program is named
  std::string argv0;   // the program's argv[0]
};

// `command`: the loader's whole command line, its own name first.
LoaderCommand ReadLoaderCommand(const std::vector<std::string>& command);

}  // namespace memprof

// The findings of `memprof doctor` on this machine and on a program.
//
// Thread safety: pure, except that it starts processes; it never starts the program.
#pragma once

#include <string>
#include <vector>

namespace memprof {

struct Diagnosis {
  bool fine = true;  // the program can be profiled
  std::string text;
};

Diagnosis DiagnoseHost();
// `command` is the program. If it is a loader, it is followed by what the loader has to start.
Diagnosis DiagnoseProgram(const std::vector<std::string>& command, const std::string& search_path);

}  // namespace memprof

// What `memprof doctor` says: of this machine, and of a program.
//
// Thread safety: pure, but for the processes that it starts; the program is not one of them.
#pragma once

#include <string>

namespace memprof {

struct Diagnosis {
  bool fine = true;  // it can be profiled
  std::string text;
};

Diagnosis DiagnoseHost();
Diagnosis DiagnoseProgram(const std::string& program, const std::string& search_path);

}  // namespace memprof

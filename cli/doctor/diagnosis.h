// What `memprof doctor` says: of this machine, and of a program.
//
// Thread safety: pure, but for the processes that it starts; the program is not one of them.
#pragma once

#include <string>
#include <vector>

namespace memprof {

struct Diagnosis {
  bool fine = true;  // it can be profiled
  std::string text;
};

Diagnosis DiagnoseHost();
// `command`: the program, and of a loader that is run itself what it is to start.
Diagnosis DiagnoseProgram(const std::vector<std::string>& command, const std::string& search_path);

}  // namespace memprof

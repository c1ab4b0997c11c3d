// PythonCommand: completes a command line that begins with a Python script, with -m or with -c.
//
//   script.py ARGS…   -> python3 script.py ARGS…
//   -m module ARGS…   -> python3 -m module ARGS…
//   -c CODE ARGS…     -> python3 -c CODE ARGS…
//
// Thread safety: any thread; reads the environment.
#pragma once

#include <string>
#include <vector>

namespace memprof {

// The interpreter is `python` if that isn't empty; else what the script's first line names; else
// that of the active virtual environment (VIRTUAL_ENV); else python3, which PATH finds.
// A script that the kernel can run itself, and every other command line, stays as it is unless
// `python` is given. Pre: `command` isn't empty.
std::vector<std::string> CompletePythonCommand(std::vector<std::string> command,
                                               const std::string& python);

}  // namespace memprof

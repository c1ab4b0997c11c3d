// Captures the output of a system command.
#pragma once

#include <string>
#include <vector>

namespace memprof {

// Runs argv[0] (found in PATH) and returns what it wrote to stdout; its stderr is dropped. Empty if
// it can't be run. The status is ignored: some commands print all they know and fail for one item.
std::string OutputOf(const std::vector<std::string>& argv);

}  // namespace memprof

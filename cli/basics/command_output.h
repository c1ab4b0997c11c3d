// Captures the output of a system command.
#pragma once

#include <string>
#include <vector>

namespace memprof {

struct CommandOptions {
  bool with_errors = false;              // what it writes to stderr, too; else that is dropped
  std::vector<std::string> environment;  // "NAME=value", in place of those of these names
};

// Runs argv[0] (found in PATH) and returns what it wrote to stdout. Empty if it can't be run. The
// status is ignored: some commands print all they know and fail for one item.
std::string OutputOf(const std::vector<std::string>& argv, const CommandOptions& options = {});

}  // namespace memprof

// Where a report goes: stdout, or a file that is never overwritten without -f.
#pragma once

#include <string>

#include "cli/command.h"

namespace memprof {

struct OutputOptions {
  std::string file;  // empty: stdout
  bool force = false;
};

void AddOutputOptions(CLI::App& app, OutputOptions& options);

// Writes and gives the exit status; failures are said.
int WriteOutput(const OutputOptions& options, const std::string& text);

// Says the error and gives its exit status.
int ExitStatusOf(const struct Error& error);

}  // namespace memprof

// Where a report goes: stdout, or a file that is never overwritten without -f.
//
// What is no regular file (/dev/stdout, /dev/null, a FIFO) holds nothing that could be lost: it is
// written to as it is, and never replaced.
#pragma once

#include <string>

#include "cli/basics/arguments.h"
#include "cli/terminal/terminal.h"
#include "core/result.h"

namespace memprof {

struct OutputOptions {
  std::string file;  // empty or "-": stdout
  bool force = false;
};

bool IsStdout(const OutputOptions& options);

void AddOutputOptions(Arguments& arguments, OutputOptions& options);

// Whether WriteOutput would refuse: kExists, or kUsage for a folder.
Result<void> CheckOutput(const OutputOptions& options);

// Writes and gives the exit status; failures are said.
int WriteOutput(const OutputOptions& options, const std::string& text);

// No escapes ever reach a file.
TextStyle StyleOf(const OutputOptions& options);

// Says the error and gives its exit status.
int ExitStatusOf(const Error& error);

}  // namespace memprof

// The output of a report: stdout, or a file that is never overwritten without -f.
//
// A file that isn't regular (/dev/stdout, /dev/null, a FIFO) holds nothing that could be lost: it
// is written to directly, and never replaced.
#pragma once

#include <string>

#include "cli/basics/arguments.h"
#include "cli/terminal/terminal.h"
#include "core/result.h"

namespace memprof {

struct OutputOptions {
  std::string file = {};  // empty or "-": stdout
  bool force = false;
  bool has_capture = false;  // what is written is a capture; else none is overwritten by it
};

bool IsStdout(const OutputOptions& options);

void AddOutputOptions(Arguments& arguments, OutputOptions& options);

// Fails if WriteOutput would refuse: kExists, also for a capture that would be lost; kUsage for a folder.
Result<void> CheckOutput(const OutputOptions& options);

// Writes and returns the exit status; failures are printed.
int WriteOutput(const OutputOptions& options, const std::string& text);

// A file never gets escapes.
TextStyle StyleOf(const OutputOptions& options);

// Prints the error and returns its exit status.
int ExitStatusOf(const Error& error);

}  // namespace memprof

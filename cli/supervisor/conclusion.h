// The lines that `memprof run` prints at the end, and its exit status (exit_status.h).
//
// Invariant: if the status isn't 0 and is memprof's own, the last line says why, even with --quiet.
// Thread safety: pure, except FindKeptByRuntime, which reads the symbols of libc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/basics/shell_word.h"
#include "cli/supervisor/supervisor.h"

namespace memprof {

struct Conclusion {
  int status = 0;
  std::vector<std::string> lines;  // for stderr, each prefixed with memprof's name
  bool has_capture = false;
  std::string report;     // for stderr, after the lines, unchanged
  std::string last_line;  // after that; empty: none
};

// Fills in RunOutcome::leak_classes. Downloads nothing.
void FindKeptByRuntime(RunOutcome& outcome);

// `output` is the capture's file, `output_bytes` its size; `region` is the region's file, or empty.
Conclusion Conclude(const RunOutcome& outcome, const std::string& output, uint64_t output_bytes,
                    const std::string& region, bool quiet);

}  // namespace memprof

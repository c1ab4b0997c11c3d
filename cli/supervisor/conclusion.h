// What `memprof run` says at the end, and its exit status (exit_status.h).
//
// Invariant: where the status isn't 0 and is memprof's own, the last line says why, also if quiet.
// Thread safety: pure, but FindKeptByRuntime, which reads the symbols of libc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/basics/shell_word.h"
#include "cli/supervisor/supervisor.h"

namespace memprof {

struct Conclusion {
  int status = 0;
  std::vector<std::string> lines;  // for stderr, each with memprof's name
  bool has_capture = false;
  std::string report;     // for stderr, behind the lines, as it is
  std::string last_line;  // behind that; empty: none
};

// Fills in RunOutcome::kept_by_runtime. Downloads nothing.
void FindKeptByRuntime(RunOutcome& outcome);

// `output`: the capture's file, `output_bytes` its size; `region`: its file, or empty.
Conclusion Conclude(const RunOutcome& outcome, const std::string& output, uint64_t output_bytes,
                    const std::string& region, bool quiet);

}  // namespace memprof

// What `memprof run` says at the end, and its exit status (exit_status.h).
//
// Invariant: where the status isn't 0 and is memprof's own, the last line says why, also if quiet.
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/run/supervisor.h"

namespace memprof {

struct Conclusion {
  int status = 0;
  std::vector<std::string> lines;  // for stderr, each with memprof's name
  bool has_capture = false;
  std::string report;     // for stderr, behind the lines, as it is
  std::string last_line;  // behind that; empty: none
};

// `output`: the capture's file, `output_bytes` its size; `region`: its file, or empty.
Conclusion Conclude(const RunOutcome& outcome, const std::string& output, uint64_t output_bytes,
                    const std::string& region, bool quiet);

// A word that a shell takes as it is.
std::string ShellWord(const std::string& word);

}  // namespace memprof

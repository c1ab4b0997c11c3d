// A run without a tracker, for a program whose built-in jemalloc can't be hooked. The capture is
// made of the sampled heap profile that this jemalloc writes at exit.
//
//   MALLOC_CONF=…,prof:true,prof_final:true,prof_prefix:DIR/profile
//     ─► program ─► DIR/profile.PID.N.f.heap ─► JemallocProfile ─► Snapshot ─► capture
//
// A jemalloc that was built without profiling ignores the options and says so on stderr. Child
// processes write profiles too, which are not read. If a child outlives the program, the directory
// is gone, and the child's jemalloc says so on stderr.
//
// Thread safety: one a process, one thread. Failure: as `memprof run`: exit_status.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/preflight/preflight.h"
#include "cli/symbols/symbol_options.h"

namespace memprof {

struct JemallocRunOptions {
  std::string output;  // the value of -o
  bool overwrite = false;
  bool quiet = false;
  bool command_line = true;  // keep the command line in the capture
  bool symbolize = false;
  SymbolOptions symbols;
  uint64_t sample_bytes = 0;  // 0: jemalloc's own default, 512 KiB
};

// Returns memprof's exit status. Pre: argv isn't empty.
int RunWithJemallocProfile(const JemallocRunOptions& options, const Preflight& preflight,
                           const std::vector<std::string>& argv);

// The environment with the options that make jemalloc write its profile, after those that
// `variable` has already.
std::vector<std::string> EnvironmentForProfile(const std::string& variable,
                                               const std::string& prefix, uint64_t sample_bytes);

}  // namespace memprof

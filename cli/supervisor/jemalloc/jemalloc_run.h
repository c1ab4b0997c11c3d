// A run without a tracker, whose capture is the sampled heap profile that the program's own
// jemalloc writes at exit: for one that is inside the program and can't be hooked.
//
//   MALLOC_CONF=…,prof:true,prof_final:true,prof_prefix:DIR/profile
//     ─► program ─► DIR/profile.PID.N.f.heap ─► JemallocProfile ─► Snapshot ─► capture
//
// A jemalloc that was built without profiles ignores that and says so on stderr. Child processes
// write profiles too, which are not read; one that outlives the program finds the directory gone,
// and its jemalloc says so on stderr.
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
  std::string output;  // as -o was given
  bool overwrite = false;
  bool quiet = false;
  bool command_line = true;  // it is in the capture
  bool symbolize = false;
  SymbolOptions symbols;
  uint64_t sample_bytes = 0;  // 0: jemalloc's own default, 512 KiB
};

// The status of memprof. Pre: argv isn't empty.
int RunWithJemallocProfile(const JemallocRunOptions& options, const Preflight& preflight,
                           const std::vector<std::string>& argv);

// The environment with what makes jemalloc write its profile, after what `variable` has already.
std::vector<std::string> EnvironmentForProfile(const std::string& variable,
                                               const std::string& prefix, uint64_t sample_bytes);

}  // namespace memprof

// RegionProcess: finds out whether the process that counts in a region's file still runs.
//
// It is the process that has the file mapped and whose own pid, in whatever pid namespace, is the
// region's. A forked child has the file mapped as well, but another pid.
// Thread safety: pure but for /proc. Failure: processes that may not be looked at are not found.
#pragma once

#include <sys/types.h>

#include <string>

namespace memprof {

// The process's pid as seen here; 0: it has ended, or executed another program. `fd` is the file's.
pid_t FindRegionProcess(int fd, const std::string& file);

}  // namespace memprof

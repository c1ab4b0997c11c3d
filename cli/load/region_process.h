// RegionProcess: whether the process that counts in a region's file still runs.
//
// It is one that has the file mapped, under the pid by which it calls itself: in whatever namespace
// of pids that is, and not a forked child of it, which has the file mapped as well.
// Thread safety: pure but for /proc. Failure: what may not be looked at is not seen.
#pragma once

#include <sys/types.h>

#include <string>

namespace memprof {

// The process's pid as seen here; 0: it has ended, or executed something else. `fd` is the file's.
pid_t FindRegionProcess(int fd, const std::string& file);

}  // namespace memprof

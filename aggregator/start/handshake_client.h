// Gets the region from the supervisor that MEMPROF_SOCKET names.
//
// Called once, by one thread. Waits at most kHandshakeTimeoutMs a step. Leaves no descriptor open.
// Failure: null; the program runs untracked.
#pragma once

#include "aggregator/basics/region.h"

namespace memprof {

MappedRegion ReceiveRegion(const char* socket_path);

}  // namespace memprof

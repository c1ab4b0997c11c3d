// Gets the region from the supervisor that MEMPROF_SOCKET names.
//
// Called once, by one thread. Waits at most kHandshakeTimeoutMs a step. Leaves no descriptor open.
// Failure: null; the program runs untracked.
#pragma once

#include <cstdint>

namespace memprof {

struct MappedRegion {
  void* base = nullptr;
  uint64_t bytes = 0;
};

MappedRegion ReceiveRegion(const char* socket_path);

}  // namespace memprof

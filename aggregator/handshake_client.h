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
  void* children = nullptr;  // the children's area; nullptr: forked children aren't followed
  uint64_t children_bytes = 0;
  uint64_t image = 0;  // ImageId
  bool foreign_pids = false;
};

MappedRegion ReceiveRegion(const char* socket_path);

}  // namespace memprof

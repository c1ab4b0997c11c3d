// What only a tracker that was attached has to be told (arrival_attached.cc).
//
// Thread safety: one thread.
#pragma once

namespace memprof {

// Where the supervisor listens; it lives until the tracker has started.
void SetSocketPath(const char* path);

// Finds how large blocks of before are. Pre: the real allocator is known.
void FindUsableSize();

}  // namespace memprof

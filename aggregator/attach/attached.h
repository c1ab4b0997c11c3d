// Settings that only an attached tracker needs (start/loading.h).
//
// Thread safety: one thread.
#pragma once

namespace memprof {

// The path at which the supervisor listens; the text must live until the tracker has started.
void SetSocketPath(const char* path);

// Finds the function that tells the size of older blocks. Pre: the real allocator is known.
void FindUsableSize();

}  // namespace memprof

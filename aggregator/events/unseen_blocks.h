// UnseenBlocks: frees of blocks whose allocation was not seen. Declared here for the callers below:
// a preloaded tracker (start/preloaded.cc) and an attached one (attach/attached.cc) each define
// them.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

namespace memprof {

void CountUnseenFree(const void* address);

// The same for a realloc, which may fail. Call UnseenSize before, for the size that would be freed
// (0: nothing to count), and the second function if the block was freed.
uint64_t UnseenSize(const void* address);
void CountUnseenRealloc(uint64_t size);

// The same for an operator delete, afterwards.
void CountUnseenDelete(uint64_t size);

}  // namespace memprof

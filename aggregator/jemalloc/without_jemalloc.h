// The extended interface for a process without jemalloc: a child of a program with jemalloc
// inherits our preloads, finds our weak symbols, and calls them.
//
// It works on top of malloc, so every block may be mixed with malloc's, as with jemalloc. Only
// alignment and MALLOCX_ZERO have an effect. xallocx never resizes.
#pragma once

#include <cstddef>

namespace memprof {

void* MallocxOnMalloc(size_t size, int flags);
void* RallocxOnMalloc(void* address, size_t size, int flags);
size_t XallocxOnMalloc(void* address, size_t size, size_t extra, int flags);
void DallocxOnMalloc(void* address, int flags);
void SdallocxOnMalloc(void* address, size_t size, int flags);

}  // namespace memprof

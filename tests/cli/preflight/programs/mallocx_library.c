// A library that exports mallocx, as a jemalloc does.
#include <stdlib.h>

void* mallocx(size_t size, int flags);
void* mallocx(size_t size, int flags) { return flags == 0 ? malloc(size) : 0; }

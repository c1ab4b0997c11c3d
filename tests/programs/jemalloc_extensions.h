// jemalloc's extended interface, without its development package.
#include <stddef.h>

void* mallocx(size_t size, int flags);
void* rallocx(void* p, size_t size, int flags);
size_t xallocx(void* p, size_t size, size_t extra, int flags);
void dallocx(void* p, int flags);
void sdallocx(void* p, size_t size, int flags);

#define MALLOCX_ALIGN(a) (__builtin_ctzl(a))
#define MALLOCX_ZERO 0x40
#define MALLOCX_TCACHE_NONE (1 << 8)

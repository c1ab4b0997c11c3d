// Declarations of jemalloc's extended interface, without its development package.
#include <stddef.h>

void* mallocx(size_t size, int flags);
void* rallocx(void* p, size_t size, int flags);
size_t xallocx(void* p, size_t size, size_t extra, int flags);
void dallocx(void* p, int flags);
void sdallocx(void* p, size_t size, int flags);
int mallctl(const char* name, void* old, size_t* old_bytes, void* fresh, size_t bytes);

#define MALLOCX_ALIGN(a) (__builtin_ctzl(a))
#define MALLOCX_ZERO 0x40
#define MALLOCX_TCACHE_NONE (1 << 8)

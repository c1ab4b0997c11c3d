// Part of early_constructor: see there.
#include <stdlib.h>
#include <sys/mman.h>

char* early_library_block(void);

static void* volatile kept;
static void* volatile pool;
static char* given;

__attribute__((constructor)) static void early_library_starts(void) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  pool = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, flags, -1, 0);  // @pool
  kept = malloc(1111);                                                // @kept
  given = malloc(2222);                                               // @given
  free(malloc(3333));                                                 // @freed
}

char* early_library_block(void) { return given; }

// Part of early_constructor: see there.
#include <stdlib.h>

char* early_library_block(void);

static void* volatile kept;
static char* given;

__attribute__((constructor)) static void early_library_starts(void) {
  kept = malloc(1111);  // @kept
  given = malloc(2222);  // @given
  free(malloc(3333));  // @freed
}

char* early_library_block(void) { return given; }

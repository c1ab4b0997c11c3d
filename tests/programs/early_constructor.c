// A shared library whose constructor runs before the tracker's. It maps memory first, and
// allocates. Its blocks are used, grown and freed in main.
//
// SOURCES early_library.c
// SITE function=early_library_starts line=@kept  peak=1111/1 leaked=1111/1 total=1111/1
// SITE function=early_library_starts line=@given peak=0/0    leaked=0/0    total=2222/1
// SITE function=early_library_starts line=@freed peak=0/0    leaked=0/0    total=3333/1
// SITE function=main line=@grown peak=50000/1 leaked=50000/1 total=50000/1
// MAP function=early_library_starts line=@pool peak=67108864/1 leaked=67108864/1 total=67108864/1
// MAPPED peak=67108864/1 leaked=67108864/1 total=67108864/1
// TRACKER dropped_events=0 unknown_frees=0
// WHOLE peak=51111/2 leaked=51111/2 total=56666/4
#include <stdlib.h>

extern char* early_library_block(void);
static void* volatile kept;

int main(void) {
  kept = realloc(early_library_block(), 50000);  // @grown
  return 0;
}

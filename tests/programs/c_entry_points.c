// Every C function that allocates, once freed and once leaked. The figure is always the requested
// size: an alignment or a page adds nothing.
//
// SITE function=main line=@malloc    peak=101/1 leaked=101/1 total=101/1
// SITE function=main line=@malloc_f  peak=51/1  leaked=0/0   total=51/1
// SITE function=main line=@calloc    peak=210/1 leaked=210/1 total=210/1
// SITE function=main line=@realloc   peak=303/1 leaked=303/1 total=303/1
// SITE function=main line=@array     peak=400/1 leaked=400/1 total=400/1
// SITE function=main line=@memalign  peak=505/1 leaked=505/1 total=505/1
// SITE function=main line=@posix     peak=606/1 leaked=606/1 total=606/1
// SITE function=main line=@aligned   peak=704/1 leaked=704/1 total=704/1
// SITE function=main line=@valloc    peak=808/1 leaked=808/1 total=808/1
// SITE function=main line=@pvalloc   peak=909/1 leaked=909/1 total=909/1
// WHOLE peak=4597/10 leaked=4546/9 total=4597/10
//
// jemalloc has no pvalloc, and can't be asked of glibc's block: with it, valloc gives the 909 bytes too.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "which_allocator.h"

static void* kept[16];

int main(void) {
  int n = 0;
  kept[n++] = malloc(101);  // @malloc
  void* freed = malloc(51);  // @malloc_f
  kept[n++] = calloc(7, 30);  // @calloc
  kept[n++] = realloc(NULL, 303);  // @realloc
  kept[n++] = reallocarray(NULL, 8, 50);  // @array
  kept[n++] = memalign(256, 505);  // @memalign
  if (posix_memalign(&kept[n++], 128, 606) != 0) return 1;  // @posix
  kept[n++] = aligned_alloc(64, 704);  // @aligned
  kept[n++] = valloc(808);  // @valloc
  kept[n++] = (which_allocator() == kJemalloc ? valloc : pvalloc)(909);  // @pvalloc
  free(freed);
  free(NULL);
  for (int i = 0; i < n; ++i) {
    if (kept[i] == NULL) return 2;
    if (malloc_usable_size(kept[i]) < 101) return 3;
    memset(kept[i], 0x5a, malloc_usable_size(kept[i]));  // all of it is the program's
  }
  if (((char*)kept[1])[0] != 0x5a || malloc_usable_size(NULL) != 0) return 4;
  return 0;
}

// Every block of each C function is freed again, so nothing is live at the end.
//
// SITE function=main line=@calloc    peak=0/0 leaked=0/0 total=210/1
// SITE function=main line=@array     peak=0/0 leaked=0/0 total=400/1
// SITE function=main line=@memalign  peak=0/0 leaked=0/0 total=505/1
// SITE function=main line=@posix     peak=0/0 leaked=0/0 total=606/1
// SITE function=main line=@aligned   peak=0/0 leaked=0/0 total=704/1
// SITE function=main line=@valloc    peak=0/0 leaked=0/0 total=808/1
// SITE function=main line=@pvalloc   peak=909/1 leaked=0/0 total=909/1
// WHOLE peak=909/1 leaked=0/0 total=4142/7
//
// jemalloc has no pvalloc, and can't free glibc's block: with it, valloc gives the 909 bytes too.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>

#include "which_allocator.h"

int main(void) {
  void* p = calloc(7, 30);  // @calloc
  for (int i = 0; i < 210; ++i) {
    if (((char*)p)[i] != 0) return 1;
  }
  free(p);
  p = reallocarray(NULL, 8, 50);  // @array
  free(p);
  p = memalign(256, 505);  // @memalign
  if ((size_t)p % 256 != 0) return 2;
  free(p);
  if (posix_memalign(&p, 128, 606) != 0) return 3;  // @posix
  if ((size_t)p % 128 != 0) return 4;
  free(p);
  p = aligned_alloc(64, 704);  // @aligned
  if ((size_t)p % 64 != 0) return 5;
  free(p);
  p = valloc(808);  // @valloc
  if ((size_t)p % 4096 != 0) return 6;
  free(p);
  p = (which_allocator() == kJemalloc ? valloc : pvalloc)(909);  // @pvalloc
  if ((size_t)p % 4096 != 0) return 7;
  free(p);
  return 0;
}

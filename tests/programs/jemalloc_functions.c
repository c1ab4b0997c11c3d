// jemalloc's extended interface. The figure is the requested size; a block belongs to the call that
// gave it its present size.
//
// SITE function=allocate line=@allocate peak=0/0         leaked=0/0        total=220/4
// SITE function=main     line=@aligned  peak=0/0         leaked=0/0        total=505/1
// SITE function=main     line=@first    peak=0/0         leaked=0/0        total=200/1
// SITE function=grow     line=@grown    peak=3000/1      leaked=3000/1     total=3000/1
// SITE function=main     line=@sunk     peak=0/0         leaked=0/0        total=4000/1
// SITE function=main     line=@small    peak=30/1        leaked=30/1       total=30/1
// SITE function=main     line=@keeps    peak=900/1       leaked=900/1      total=900/1
// SITE function=main     line=@before   peak=0/0         leaked=0/0        total=100/1
// SITE function=main     line=@in_place peak=112/1       leaked=112/1      total=112/1
// SITE function=main     line=@stays    peak=80/1        leaked=80/1       total=80/1
// SITE function=main     line=@roomy    peak=0/0         leaked=0/0        total=97/1
// SITE function=main     line=@extra    peak=100/1       leaked=100/1      total=100/1
// SITE function=main     line=@large    peak=0/0         leaked=0/0        total=1048576/1
// SITE function=main     line=@cut      peak=262144/1    leaked=262144/1   total=262144/1
// SITE function=main     line=@last     peak=2000000/1   leaked=0/0        total=2000000/1
// TRACKER dropped_events=0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jemalloc_extensions.h"

static void* volatile keep[8];

static void* allocate(size_t size) {
  return mallocx(size, 0);  // @allocate
}

static char* grow(char* p) {
  return rallocx(p, 3000, MALLOCX_ALIGN(64) | MALLOCX_ZERO);  // @grown
}

int main(void) {
  volatile size_t impossible = PTRDIFF_MAX;

  dallocx(allocate(100), 0);
  for (int i = 0; i < 3; ++i) sdallocx(allocate(40), 40, 0);

  char* p = mallocx(505, MALLOCX_ALIGN(4096) | MALLOCX_ZERO | MALLOCX_TCACHE_NONE);  // @aligned
  if ((uintptr_t)p % 4096 != 0) return 1;
  for (int i = 0; i < 505; ++i) {
    if (p[i] != 0) return 2;
  }
  dallocx(p, MALLOCX_TCACHE_NONE);

  p = mallocx(200, 0);  // @first
  memset(p, 'a', 200);
  p = grow(p);
  if ((uintptr_t)p % 64 != 0 || p[199] != 'a' || p[2999] != 0) return 3;
  keep[0] = p;

  p = mallocx(4000, 0);         // @sunk
  keep[1] = rallocx(p, 30, 0);  // @small

  if (mallocx(impossible, 0) != NULL) return 4;
  p = mallocx(900, 0);  // @keeps
  memset(p, 'b', 900);
  if (rallocx(p, impossible, 0) != NULL || p[899] != 'b') return 5;
  keep[2] = p;

  p = mallocx(100, 0);                         // @before
  if (xallocx(p, 112, 0, 0) != 112) return 6;  // @in_place
  keep[3] = p;

  // A small block has no room to grow; the old figure stands.
  p = mallocx(80, 0);  // @stays
  if (xallocx(p, 100000, 0, 0) != 80) return 7;
  keep[4] = p;

  // Bytes beyond `size` were offered, not requested.
  p = mallocx(97, 0);                            // @roomy
  if (xallocx(p, 100, 900, 0) != 112) return 8;  // @extra
  keep[5] = p;

  p = mallocx(1048576, 0);                           // @large
  if (xallocx(p, 262144, 0, 0) != 262144) return 9;  // @cut
  keep[6] = p;

  sdallocx(mallocx(2000000, 0), 2000000, 0);  // @last
  return 0;
}

// Looks for jemalloc as libraries do, by a weak symbol, and prints the result. With the argument
// "use" it uses what it found and prints nothing. By itself it has no jemalloc.
//
// SITE function=main line=@malloc peak=300/1 leaked=0/0 total=300/1
// WHOLE peak=300/1 leaked=0/0 total=300/1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma weak mallocx
#pragma weak rallocx
#pragma weak xallocx
#pragma weak dallocx
#pragma weak sdallocx
#include "jemalloc_extensions.h"

static int use(void) {
  for (size_t align = 1; align <= 8192; align *= 2) {
    for (size_t size = 0; size < 6000; size += 1 + size / 7) {
      char* p = mallocx(size, MALLOCX_ALIGN(align) | MALLOCX_ZERO);
      if (p == NULL || (uintptr_t)p % align != 0) return 1;
      for (size_t i = 0; i < size; ++i) {
        if (p[i] != 0) return 2;
      }
      memset(p, 'a', size);
      size_t usable = xallocx(p, size, 0, 0);
      if (usable < size) return 3;
      memset(p, 'b', usable);
      p = rallocx(p, 2 * size + 1, MALLOCX_ALIGN(align) | MALLOCX_ZERO);
      if (p == NULL || (uintptr_t)p % align != 0) return 4;
      for (size_t i = 0; i < 2 * size + 1; ++i) {
        if (p[i] != (i < usable ? 'b' : 0)) return 5;
      }
      if (align % 2 == 0) {
        dallocx(p, 0);
      } else {
        sdallocx(p, 2 * size + 1, 0);
      }
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return mallocx == NULL ? 0 : use();
  const char* said = mallocx == NULL ? "no mallocx\n" : "mallocx\n";
  if (write(1, said, strlen(said)) < 0) return 1;
  free(malloc(300));  // @malloc
  return 0;
}

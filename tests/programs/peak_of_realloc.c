// The old and the new block of a realloc never exist together: 1000 → 1500 peaks at 1500, not at
// 2500. A failing realloc leaves the peak alone.
//
// SITE function=main line=@first  peak=0/0    leaked=0/0    total=1000/1
// SITE function=main line=@second peak=1500/1 leaked=1500/1 total=1500/1
// WHOLE peak=1500/1 leaked=1500/1 total=2500/2
#include <stdint.h>
#include <stdlib.h>

static void* volatile kept;

int main(void) {
  volatile size_t impossible = PTRDIFF_MAX - 4096;
  void* p = malloc(1000);  // @first
  if (realloc(p, impossible) != NULL) return 1;
  kept = realloc(p, 1500);  // @second
  return 0;
}

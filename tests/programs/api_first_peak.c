// The peak is in the first segment, long before the end. Later segments, some with an equal peak,
// don't replace it.
//
// SITE function=highest line=@HIGHEST peak=1000/2 leaked=0/0 total=1000/2
// SITE function=equal line=@EQUAL peak=0/0 leaked=0/0 total=10000/10
// SITE function=lower line=@LOWER peak=0/0 leaked=0/0 total=9990/10
// WHOLE peak=1000/2 leaked=0/0 total=20990/22
#include <memprof/memprof.h>
#include <stdlib.h>

static void highest(void) {
  void* blocks[2];
  for (int i = 0; i < 2; ++i) {
    blocks[i] = malloc(500);  // @HIGHEST
  }
  for (int i = 0; i < 2; ++i) free(blocks[i]);
}
static void equal(void) {
  free(malloc(1000));  // @EQUAL
}
static void lower(void) {
  free(malloc(999));  // @LOWER
}

int main(void) {
  highest();
  for (int i = 0; i < 10; ++i) {
    memprof_scope scope = memprof_scope_begin("round", 0);
    if (i % 2 == 0) equal();
    lower();
    memprof_scope_end(scope, NULL);
    if (i % 2 == 1) equal();
    memprof_scope_release(scope);
  }
  return 0;
}

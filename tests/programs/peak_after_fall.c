// A peak that directly follows a fall: A +100, A −100, B +150. The rows at the peak are B's 150 and
// nothing of A.
//
// SITE function=a line=@a peak=0/0   leaked=0/0   total=100/1
// SITE function=b line=@b peak=150/1 leaked=150/1 total=150/1
// WHOLE peak=150/1 leaked=150/1 total=250/2
#include <stdlib.h>

static void* a(void) {
  return malloc(100);  // @a
}
static void* b(void) {
  return malloc(150);  // @b
}
static void* volatile kept;

int main(void) {
  free(a());
  kept = b();
  return 0;
}

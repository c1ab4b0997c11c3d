// The same maximum three times: the first one counts, so it is A's.
//
// SITE function=a line=@a peak=400/2 leaked=0/0   total=400/2
// SITE function=b line=@b peak=0/0   leaked=0/0   total=400/1
// SITE function=c line=@c peak=0/0   leaked=300/3 total=400/4
// WHOLE peak=400/2 leaked=300/3 total=1200/7
#include <stdlib.h>

static void* a(size_t n) {
  return malloc(n);  // @a
}
static void* b(size_t n) {
  return malloc(n);  // @b
}
static void* c(size_t n) {
  return malloc(n);  // @c
}

int main(void) {
  void* p = a(150);
  void* q = a(250);
  free(p);
  free(q);
  free(b(400));
  for (int i = 0; i < 3; ++i) {
    if (c(100) == NULL) return 1;
  }
  free(c(100));
  return 0;
}

// Part of unseen_unloads: see there. Built twice, with WHICH=first and WHICH=other.
#include <stdlib.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

static void* volatile kept;

void JOIN(WHICH, inner)(int size);

void JOIN(WHICH, outer)(void) {
  JOIN(WHICH, inner)(100);  // @outer
  kept = kept;
}

#define IS_other 1
#define IS_first 0
void JOIN(WHICH, inner)(int size) {
#if JOIN(IS, WHICH)
  if (size < 3) kept = NULL;
#endif
  kept = malloc(size);  // @inner
}

// A library that is loaded later, and allocates when it is called.
#include <stdlib.h>

void* taken[7];

void take(void) {
  for (int i = 0; i < 7; ++i) taken[i] = malloc(333);
}

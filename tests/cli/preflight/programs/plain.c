// A program without any peculiarity. Built in several ways for preflight_test.
#include <stdlib.h>

int main(void) {
  free(malloc(1));
  return 0;
}

// Allocates blocks of 1,000 bytes until one is refused or there are a million, and prints their
// number. Run by limits_test.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const long most = 1000000;
  long blocks = 0;
  void** last = NULL;
  for (; blocks < most; ++blocks) {
    void** block = malloc(1000);
    if (block == NULL) break;
    *block = last;
    last = block;
  }
  printf("%ld\n", blocks);
}

// The first call of the allocator is free(NULL), also where blocks are sampled.
//
// CASE
// CASE name=sampled flags=--sample,64K
// SITE function=main line=@block peak=4194304/1 leaked=0/0 total=4194304/1
#include <stdlib.h>

int main(void) {
  void* volatile nothing = NULL;
  free(nothing);
  void* volatile block = malloc(4194304);  // @block
  free(block);
  return 0;
}

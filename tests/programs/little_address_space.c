// Under RLIMIT_AS the program gets what the limit allows, gets NULL beyond it, and goes on.
//
// SITE function=main line=@before peak=1000000/1 leaked=1000000/1 total=1000000/1
// SITE function=main line=@after  peak=50000/50 leaked=50000/50 total=50000/50
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>

static void* volatile kept;

int main(void) {
  kept = malloc(1000000);  // @before
  // Nothing more than what is mapped now, but for one mebibyte.
  struct rlimit limit = {1 << 20, 1 << 20};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  if (malloc(1 << 30) != NULL) return 2;  // @huge
  for (int i = 0; i < 50; ++i) {
    if ((kept = malloc(1000)) == NULL) return 3;  // @after
  }
  return 0;
}

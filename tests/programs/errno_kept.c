// errno is the program's: free never changes it, and success leaves it alone as bare glibc does.
// mimalloc changes it, bare too.
//
// CASE with=glibc,jemalloc,tcmalloc
// SITE function=allocate line=@a peak=? leaked=0/0 total=?
// SITE function=main line=@last peak=500000/1 leaked=500000/1 total=500000/1
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

static void* volatile kept;

__attribute__((noinline)) static void* allocate(int how, size_t n) {
  return how == 0 ? malloc(n) : how == 1 ? calloc(1, n) : realloc(malloc(n), 2 * n);  // @a
}

int main(void) {
  for (int i = 0; i < 3000; ++i) {
    errno = 12345;
    void* p = allocate(i % 3, (size_t)i * 7 + 1);
    if (errno != 12345) return 1;
    errno = 54321;
    free(p);
    if (errno != 54321) return 2;
    errno = 11;
    free(NULL);
    if (errno != 11) return 3;
  }
  errno = 0;
  volatile size_t impossible = (size_t)-4096;
  if (malloc(impossible) != NULL || errno != ENOMEM) return 4;
  kept = malloc(500000);  // @last
  return 0;
}

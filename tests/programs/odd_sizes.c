// Extreme sizes: nothing, more than 32 bits hold, and more than there is. A failing call is no
// allocation. mimalloc doesn't set errno then.
//
// CASE with=glibc,jemalloc,tcmalloc
// SITE function=main line=@zero   peak=0/1           leaked=0/1  total=0/1
// SITE function=main line=@zero_c peak=0/0           leaked=0/0  total=0/1
// SITE function=main line=@five   peak=0/0           leaked=0/0  total=5368709120/1
// SITE function=main line=@six    peak=6442450945/1  leaked=0/0  total=6442450945/1
// SITE function=main line=@small  peak=0/0           leaked=48/1 total=48/1
// WHOLE peak=6442450945/2 leaked=48/2 total=11811160113/5
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void* volatile kept[4];

int main(void) {
  // Ask the kernel first, so that a small machine is a reason to skip and not a failure.
  void* probe = mmap(NULL, 6442450945u, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) {
    static const char why[] = "no 6 GiB of address space to be had here\n";
    return write(1, why, sizeof why - 1) > 0 ? 77 : 77;
  }
  munmap(probe, 6442450945u);

  volatile size_t impossible = (size_t)PTRDIFF_MAX + 1;
  kept[0] = malloc(0);  // @zero
  void* nothing = calloc(0, 8);  // @zero_c
  char* five = malloc(5368709120u);  // @five
  if (five == NULL) return 1;
  five[5368709119u] = 1;
  free(five);
  free(nothing);
  char* six = malloc(6442450945u);  // @six
  if (six == NULL) return 8;
  free(six);

  if (malloc(impossible) != NULL || errno != ENOMEM) return 2;
  if (calloc(impossible, 16) != NULL) return 3;
  if (realloc(NULL, impossible) != NULL) return 4;
  if (memalign(64, impossible) != NULL) return 5;
  void* p = &probe;
  if (posix_memalign(&p, 24, 100) != EINVAL || p != &probe) return 6;
  if (posix_memalign(&p, 64, impossible) != ENOMEM || p != &probe) return 7;

  kept[1] = malloc(48);  // @small
  return 0;
}

// Many call stacks, each of them rare, as in interpreters and compilers.
//
// usage: sites_bench SITES ALLOCATIONS DEPTH
//   SITES        stacks, at most 1,048,576, drawn anew for each allocation
//   ALLOCATIONS  of 16 to 271 bytes; 1,000 are live
//   DEPTH        frames that all stacks have in common
// Prints one number: the nanoseconds that an allocation and its free take.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kLevels = 5, kMost = 1 << 4 * kLevels, kLive = 1000 };

static unsigned sites;
static long allocations;
static void* live[kLive];
static uint64_t state = 1;

static unsigned Random(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((state >> 33) % below);
}

// Sixteen calls on each level, each with a return address of its own.
#define CALL(n)                              \
  case n:                                    \
    block = Go(path >> 4, levels - 1);       \
    __asm__ volatile("# " #n : "+r"(block)); \
    break;

__attribute__((noinline)) static void* Go(unsigned path, int levels) {
  void* block = NULL;
  if (levels == 0) {
    block = malloc(16 + Random(256));
    __asm__ volatile("" : "+r"(block));
    return block;
  }
  switch (path & 15) {
    CALL(0)
    CALL(1)
    CALL(2)
    CALL(3)
    CALL(4)
    CALL(5)
    CALL(6)
    CALL(7)
    CALL(8)
    CALL(9)
    CALL(10)
    CALL(11)
    CALL(12)
    CALL(13)
    CALL(14)
    CALL(15)
  }
  return block;
}

__attribute__((noinline)) static void Run(int depth) {
  if (depth > 0) {
    Run(depth - 1);
    __asm__ volatile("");
    return;
  }
  for (long i = 0; i < allocations; ++i) {
    void** slot = &live[Random(kLive)];
    free(*slot);
    *slot = Go(Random(sites), kLevels);
  }
}

int main(int argc, char** argv) {
  sites = argc > 1 ? (unsigned)atol(argv[1]) : 0;
  allocations = argc > 2 ? atol(argv[2]) : 0;
  if (argc != 4 || sites == 0 || sites > kMost || allocations <= 0) {
    fprintf(stderr, "usage: sites_bench SITES ALLOCATIONS DEPTH\n");
    return 2;
  }
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  Run(atoi(argv[3]));
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double ns =
      (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
  printf("%.1f\n", ns / (double)allocations);
  return 0;
}

// Nanoseconds per malloc+free pair, with 100,000 blocks live.
//
// usage: pair_bench DEPTH CHANGING THREADS [PAIRS]
//   DEPTH     frames below the thread's start when it allocates
//   CHANGING  how many of the innermost frames differ from one allocation to the next: 0 or 4
// Prints one number: the median over 7 rounds of the time of a pair in one thread.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kLive = 100000, kRounds = 7 };

static int depth, changing, threads;
static long pairs = 1000000;

typedef struct {
  void** live;
  uint64_t state;
} Work;

static uint64_t Random(Work* work) {
  work->state = work->state * 6364136223846793005u + 1442695040888963407u;
  return work->state >> 33;
}

static void Pair(Work* work) {
  void** slot = &work->live[Random(work) % (uint64_t)(kLive / threads)];
  free(*slot);
  *slot = malloc(32 + Random(work) % 96);
}

// Four frames of one of two shapes each: 16 stacks.
static void Shape(Work* work, int left, uint64_t shapes);
__attribute__((noinline)) static void ShapeA(Work* work, int left, uint64_t shapes) {
  Shape(work, left, shapes);
  __asm__ volatile("");
}
__attribute__((noinline)) static void ShapeB(Work* work, int left, uint64_t shapes) {
  Shape(work, left, shapes);
  __asm__ volatile("");
}
__attribute__((always_inline)) static inline void Choose(Work* work, int left, uint64_t shapes) {
  if (shapes & 1) {
    ShapeA(work, left - 1, shapes >> 1);
  } else {
    ShapeB(work, left - 1, shapes >> 1);
  }
}
__attribute__((noinline)) static void Shape(Work* work, int left, uint64_t shapes) {
  if (left <= 0) {
    Pair(work);
  } else {
    Choose(work, left, shapes);
  }
  __asm__ volatile("");
}

__attribute__((noinline)) static void Descend(Work* work, int frames) {
  if (frames > 0) {
    Descend(work, frames - 1);
  } else {
    for (long i = 0; i < pairs; ++i) {
      // Two frames a level: Shape and ShapeA or ShapeB.
      if (changing) {
        Choose(work, 2, Random(work));
      } else {
        ShapeA(work, 1, 0);
      }
    }
  }
  __asm__ volatile("");
}

static void* Run(void* argument) {
  Descend(argument, depth - (changing ? 5 : 3));
  return NULL;
}

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  depth = atoi(argv[1]);
  changing = atoi(argv[2]);
  threads = atoi(argv[3]);
  if (argc > 4) pairs = atol(argv[4]);
  if (depth < 8 || threads < 1 || threads > 16) return 2;
  Work works[16];
  for (int t = 0; t < threads; ++t) {
    works[t].state = (uint64_t)t + 1;
    works[t].live = calloc((size_t)(kLive / threads), sizeof(void*));
    for (int i = 0; i < kLive / threads; ++i) works[t].live[i] = malloc(64);
  }
  double rounds[kRounds];
  for (int r = 0; r < kRounds; ++r) {
    struct timespec begin, end;
    pthread_t ids[16];
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int t = 1; t < threads; ++t) pthread_create(&ids[t], NULL, Run, &works[t]);
    Run(&works[0]);
    for (int t = 1; t < threads; ++t) pthread_join(ids[t], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    rounds[r] =
        ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
        (double)pairs;
  }
  qsort(rounds, kRounds, sizeof rounds[0], Compare);
  printf("%.1f\n", rounds[kRounds / 2]);
  return 0;
}

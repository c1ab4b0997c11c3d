// The time of a malloc and a free as something else grows: the live blocks, the call stacks that
// allocate, their depth, the time that the program has run, the threads.
//
// usage: cost_bench pairs LIVE SITES DEPTH inner|outer [PAIRS [ROUNDS]]
//          Prints the nanoseconds per malloc+free pair of each round.
//        cost_bench threads THREADS DEPTH allocate|again|pairs [COUNT [MIB [SLEEPERS]]]
//          Each thread allocates COUNT blocks of 100 bytes and keeps them, or frees each at once.
//          again: in memory that the program had before: it frees them, untimed, and allocates
//          them again, four times. Otherwise the kernel's new pages are measured, for which
//          threads wait for each other.
//          Prints millions of allocations per second, of all threads together. MIB: one block of
//          that size is live beside theirs, since a profiler may treat large heaps otherwise.
//          SLEEPERS: so many more threads do nothing, since neither glibc nor memprof has locked
//          instructions in a process of one thread.
//
//   SITES  call stacks, up to 2^20; consecutive allocations come from unrelated ones
//   DEPTH  frames below main, without malloc; at least 8
//   inner  what the stacks differ in is innermost, outer: near main, so that no frame is the same
//          activation as at the allocation before
//
// A stack is five calls, each from one of 16 places of Branch, and others that are always the same.
#define _GNU_SOURCE
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kLevels = 5, kMostThreads = 16, kMostRounds = 1000 };

static long depth, sites, live, count = 300000;
static int inner, keeps, passes = 1;
static void** blocks;
static void* volatile ballast;
static uint64_t state = 1;

static uint64_t Random(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

typedef struct {
  void (*work)(void* argument);
  void* argument;
  long fixed;  // calls that are always the same
} Stack;

__attribute__((noinline)) static void Fixed(const Stack* stack, long left) {
  if (left > 0) {
    Fixed(stack, left - 1);
  } else {
    stack->work(stack->argument);
  }
  __asm__ volatile("");
}

// With a fan-out of 16, since a small depth must have many stacks too.
#define CALL_FROM(place)                     \
  case place:                                \
    Branch(stack, path >> 4, levels - 1);    \
    __asm__ volatile("nop # place " #place); \
    break;

__attribute__((noinline)) static void Branch(const Stack* stack, uint32_t path, int levels) {
  if (levels > 0) {
    switch (path & 15) {
      CALL_FROM(0)
      CALL_FROM(1)
      CALL_FROM(2)
      CALL_FROM(3)
      CALL_FROM(4)
      CALL_FROM(5)
      CALL_FROM(6)
      CALL_FROM(7)
      CALL_FROM(8)
      CALL_FROM(9)
      CALL_FROM(10)
      CALL_FROM(11)
      CALL_FROM(12)
      CALL_FROM(13)
      CALL_FROM(14)
      CALL_FROM(15)
    }
  } else if (stack->fixed > 0) {
    Fixed(stack, stack->fixed - 1);
  } else {
    stack->work(stack->argument);
  }
  __asm__ volatile("");
}

// The path of the n-th site: unique for each n, with all levels in use.
static uint32_t Path(uint64_t n) { return (uint32_t)(n * 0x9e375 + 0x54321) & 0xfffff; }

static double Seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// --- pairs -----------------------------------------------------------------------------------

static void Refill(void* slot) {
  void** block = slot;
  free(*block);
  *block = malloc(32 + Random() % 96);
}

// Fills the table, then replaces blocks of it. One loop does both, or there would be twice the
// stacks. Below it are 7 frames, and the fixed ones.
static void FillAndPair(void* rounds) {
  const long pairs = *(long*)rounds * count;
  double begin = 0;
  for (long i = -live; i <= pairs; ++i) {
    if (i >= 0 && i % count == 0) {
      const double now = Seconds();
      if (i > 0) printf("%.1f\n", (now - begin) * 1e9 / (double)count);
      begin = now;
    }
    const uint32_t path = Path(Random() % (uint64_t)sites);
    const uint64_t slot = i < 0 ? (uint64_t)(i + live) : Random() % (uint64_t)live;
    const Stack stack = {Refill, &blocks[slot], inner ? 0 : depth - 8};
    Branch(&stack, path, kLevels);
  }
}

// --- threads ---------------------------------------------------------------------------------

static void Allocate(void* kept) {
  for (long i = 0; i < count; ++i) {
    void* block = malloc(100);
    if (keeps) {
      ((void**)kept)[i] = block;
    } else {
      free(block);
    }
  }
}

static pthread_barrier_t barrier;

// `seconds`: where to add those of all passes but the first of several, in one of the threads.
static void* AllocatingThread(void* seconds) {
  void** kept = keeps ? malloc((size_t)count * sizeof(void*)) : NULL;
  if (keeps) memset(kept, 1, (size_t)count * sizeof(void*));  // its pages
  const Stack stack = {Allocate, kept, 0};
  for (int pass = 0; pass < passes; ++pass) {
    if (pass > 0) {
      for (long i = 0; i < count; ++i) free(kept[i]);
    }
    pthread_barrier_wait(&barrier);
    const double begin = Seconds();
    Fixed(&stack, depth - 3);  // with this function and Allocate
    pthread_barrier_wait(&barrier);
    if (seconds != NULL && (pass > 0 || passes == 1)) *(double*)seconds += Seconds() - begin;
  }
  return NULL;
}

static void* SleepingThread(void* unused) {
  for (;;) pause();
}

static void Threads(int threads, int sleepers) {
  pthread_t ids[kMostThreads];
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int t = 0; t < sleepers; ++t) pthread_create(&ids[0], NULL, SleepingThread, NULL);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);  // what is freed stays the program's
  for (int t = 1; t < threads; ++t) pthread_create(&ids[t], NULL, AllocatingThread, NULL);
  double seconds = 0;
  AllocatingThread(&seconds);
  for (int t = 1; t < threads; ++t) pthread_join(ids[t], NULL);
  const double allocations = (double)count * threads * (passes > 1 ? passes - 1 : 1);
  printf("%.3f\n", allocations / seconds / 1e6);
}

int main(int argc, char** argv) {
  if (argc >= 5 && strcmp(argv[1], "threads") == 0) {
    const int threads = atoi(argv[2]);
    depth = atol(argv[3]);
    keeps = strcmp(argv[4], "pairs") != 0;
    if (strcmp(argv[4], "again") == 0) passes = 5;
    count = argc > 5 ? atol(argv[5]) : 3000000;
    if (argc > 6) ballast = malloc(strtoul(argv[6], NULL, 10) << 20);
    if (threads < 1 || threads > kMostThreads || depth < 4) return 2;
    Threads(threads, argc > 7 ? atoi(argv[7]) : 0);
    return 0;
  }
  if (argc < 6 || strcmp(argv[1], "pairs") != 0) return 2;
  live = atol(argv[2]);
  sites = atol(argv[3]);
  depth = atol(argv[4]);
  inner = strcmp(argv[5], "inner") == 0;
  if (argc > 6) count = atol(argv[6]);
  long rounds = argc > 7 ? atol(argv[7]) : 5;
  if (live < 1 || sites < 1 || sites > 1 << 20 || depth < 8 || rounds > kMostRounds) return 2;
  blocks = calloc((size_t)live, sizeof(void*));
  const Stack stack = {FillAndPair, &rounds, 0};
  if (inner && depth > 8) {
    Fixed(&stack, depth - 9);
  } else {
    FillAndPair(&rounds);
  }
  return 0;
}

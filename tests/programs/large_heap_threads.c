// Four threads beside one block that is large enough for them to hold something back from the
// ordering word: 20 MiB, so that it is 640 bytes each and at most 14 KiB in all.
//
// usage: large_heap_threads walk|climb
//   walk   random; the live bytes have few values, so that the maximum is reached again and again, by
//          blocks of two places in different proportions
//   climb  each thread allocates 20 to 28 KiB in blocks of 100 bytes, frees most, and again
//
// The moment of the peak depends on how the threads run: tests/e2e/event_log_test.py replays it.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { kThreads = 4, kBlocks = 4, kSteps = 12000, kClimbs = 30, kHigh = 280, kLow = 50 };

static void* walk(void* seed) {
  uint64_t state = (uint64_t)(uintptr_t)seed;
  void* blocks[kBlocks] = {0};
  for (int i = 0; i < kSteps; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    void** block = &blocks[(state >> 33) % kBlocks];
    if (state >> 62 == 0) {
      free(*block);
      *block = NULL;
    } else if (*block == NULL) {
      *block = malloc(1000);
    } else if (state >> 63) {
      *block = realloc(*block, 1000);
    }
  }
  for (int i = 0; i < kBlocks; i += 2) free(blocks[i]);
  return NULL;
}

static void* climb(void* seed) {
  void* blocks[kHigh];
  int n = 0;
  for (int i = 0; i < kClimbs; ++i) {
    const int top = kHigh - (int)(7 * i + (uintptr_t)seed) % 80;
    while (n < top) blocks[n++] = malloc(100);
    while (n > kLow) free(blocks[--n]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  void* large = malloc(20 << 20);  // never touched
  pthread_t threads[kThreads];
  for (uintptr_t round = 0; round < 2; ++round) {
    for (uintptr_t t = 0; t < kThreads; ++t)
      pthread_create(&threads[t], NULL, argv[1][0] == 'w' ? walk : climb, (void*)(t + 10 * round));
    for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  }
  free(large);
  return 0;
}

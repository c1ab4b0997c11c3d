// Not a known answer of its own: with the argument N it allocates a block of 100 bytes at each of N
// stacks, at most 65,536, and another thread frees them all (full_tables_test). Its region may be
// too small for that; nothing leaks.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLevels = 4, kMost = 1 << 4 * kLevels };

static void* blocks[kMost];
static unsigned count;
static sem_t all_there;

__attribute__((noinline)) static void* go(unsigned path, int levels);

// Sixteen calls, each with a return address of its own.
#define CALL(n)                               \
  case n:                                     \
    block = go(path >> 4, levels - 1);        \
    __asm__ volatile("# " #n : : "r"(block)); \
    return block;

static void* go(unsigned path, int levels) {
  void* block;
  if (levels == 0) {
    block = malloc(100);
    __asm__ volatile("" : : "r"(block));
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
  return NULL;
}

static void* free_all(void* unused) {
  (void)unused;
  sem_wait(&all_there);
  for (unsigned i = 0; i < count; ++i) free(blocks[i]);
  return NULL;
}

int main(int argc, char** argv) {
  count = argc > 1 ? (unsigned)atoi(argv[1]) : kMost;
  if (count > kMost) return 2;
  // First, so that what the library allocates for it has a place of its own.
  pthread_t thread;
  if (sem_init(&all_there, 0, 0) != 0 || pthread_create(&thread, NULL, free_all, NULL) != 0)
    return 1;
  for (unsigned i = 0; i < count; ++i) blocks[i] = go(i, kLevels);
  sem_post(&all_there);
  return pthread_join(thread, NULL) != 0;
}

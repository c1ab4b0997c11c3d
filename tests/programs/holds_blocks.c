// Holds BLOCKS blocks of SIZE bytes, spread over THREADS threads that live on, until its input
// ends. Not an answer of its own: tests/e2e/own_memory_test.py and tests/bench look at the
// tracker's memory. usage: holds_blocks BLOCKS SIZE THREADS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long blocks, size, threads;
static pthread_barrier_t ready;

static void Hold(void) {
  void** all = malloc((size_t)(blocks / threads) * sizeof(void*));
  for (long i = 0; i < blocks / threads; ++i) all[i] = malloc((size_t)size);
}

static void* Run(void* unused) {
  (void)unused;
  Hold();
  pthread_barrier_wait(&ready);
  for (;;) pause();
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  blocks = atol(argv[1]);
  size = atol(argv[2]);
  threads = atol(argv[3]);
  pthread_barrier_init(&ready, NULL, (unsigned)threads);
  for (long t = 1; t < threads; ++t) {
    pthread_t id;
    if (pthread_create(&id, NULL, Run, NULL) != 0) return 3;
  }
  Hold();
  pthread_barrier_wait(&ready);
  (void)!write(STDOUT_FILENO, "ready\n", 6);
  char c;
  while (read(STDIN_FILENO, &c, 1) > 0) {
  }
  return 0;
}

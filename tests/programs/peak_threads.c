// Four threads whose common peak is fixed by barriers: each worker holds 10 blocks of 1000 bytes
// while the others do, then all but one block of each are freed, then each climbs again to 9.
// The peak is 4 × 10 × 1000 at the barrier, when all four have arrived.
//
// SITE function=climb line=@high thread=worker peak=40000/40 leaked=4000/4 total=40000/40
// SITE function=climb line=@low  thread=worker peak=0/0     leaked=0/0    total=32000/32
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static void* volatile kept[4];

static void* climb(void* argument) {
  long id = (long)argument;
  void* blocks[10];
  pthread_setname_np(pthread_self(), "worker");
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 10; ++i) blocks[i] = malloc(1000);  // @high
  pthread_barrier_wait(&barrier);
  for (int i = 1; i < 10; ++i) free(blocks[i]);
  kept[id] = blocks[0];
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 8; ++i) blocks[i] = malloc(1000);  // @low
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 8; ++i) free(blocks[i]);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&barrier, NULL, 4);
  for (long i = 0; i < 4; ++i) {
    if (pthread_create(&threads[i], NULL, climb, (void*)i) != 0) return 1;
  }
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return 0;
}

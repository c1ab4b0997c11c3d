// 1,500 threads alive at once, of which 400 allocate without a slot of their own. On few processors
// most of them stop in the middle of an event, which is none of another thread's concern: every
// event is booked at its place.
//
// SITE function=idle    line=@idle    peak=? leaked=0/0 total=11000/1100
// SITE function=surplus line=@surplus peak=? leaked=40000/400 total=200000000/2000000
// SITE function=main    line=@top     peak=50000000/1 leaked=50000000/1 total=50000000/1
// TRACKER dropped_events=0
// TRACKER tables_full_events=0
#include <pthread.h>
#include <stdlib.h>

enum { kIdle = 1100, kSurplus = 400 };
static pthread_barrier_t barrier, start;

static void* idle(void* unused) {
  (void)unused;
  free(malloc(10));  // @idle
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

static void* surplus(void* unused) {
  (void)unused;
  void* block = NULL;
  pthread_barrier_wait(&start);
  for (int i = 0; i < 5000; ++i) {
    free(block);
    block = malloc(100);  // @surplus
  }
  return block;
}

static void* volatile kept[kSurplus + 1];

int main(void) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_barrier_init(&barrier, NULL, kIdle + 1);
  pthread_barrier_init(&start, NULL, kSurplus);
  static pthread_t threads[kIdle + kSurplus];
  for (int i = 0; i < kIdle; ++i) {
    if (pthread_create(&threads[i], &small, idle, NULL) != 0) return 77;
  }
  pthread_barrier_wait(&barrier);
  for (int i = kIdle; i < kIdle + kSurplus; ++i) {
    if (pthread_create(&threads[i], &small, surplus, NULL) != 0) return 77;
  }
  for (int i = 0; i < kSurplus; ++i) {
    void* block = NULL;
    pthread_join(threads[kIdle + i], &block);
    kept[i] = block;
  }
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kIdle; ++i) pthread_join(threads[i], NULL);
  kept[kSurplus] = malloc(50000000);  // @top
  return 0;
}

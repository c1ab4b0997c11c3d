// 1,100 threads alive at once, more than there are slots. The last one costs little more than the
// others: without a limit on the search for a slot, 40,000 events take half a minute.
//
// SITE function=idle    line=@idle    peak=? leaked=0/0 total=11000/1100
// SITE function=surplus line=@surplus peak=? leaked=100/1 total=2000000/20000
// SITE function=main    line=@top     peak=5000000/1 leaked=5000000/1 total=5000000/1
// TRACKER dropped_events=0
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { kThreads = 1100 };
static pthread_barrier_t barrier;

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
  for (int i = 0; i < 20000; ++i) {
    free(block);
    block = malloc(100);  // @surplus
  }
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec < 5 ? block : NULL;
}

static void* volatile kept[2];

int main(void) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_barrier_init(&barrier, NULL, kThreads + 1);
  static pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], &small, idle, NULL) != 0) return 77;
  }
  pthread_barrier_wait(&barrier);
  pthread_t one_more;
  void* result = NULL;
  if (pthread_create(&one_more, &small, surplus, NULL) != 0) return 77;
  pthread_join(one_more, &result);
  kept[0] = result;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  kept[1] = malloc(5000000);  // @top
  return result != NULL ? 0 : 1;
}

// 1,000 threads that live for a moment, 20 at a time. Each frees 5 of its 6 blocks.
//
// SITE function=moment line=@block peak=100000/1000 leaked=100000/1000 total=600000/6000
// SITE function=main   line=@top   peak=2000000/1 leaked=2000000/1 total=2000000/1
// TRACKER dropped_events=0
#include <pthread.h>
#include <stdlib.h>

static void* moment(void* unused) {
  void* blocks[6];
  for (int i = 0; i < 6; ++i) blocks[i] = malloc(100);  // @block
  for (int i = 1; i < 6; ++i) free(blocks[i]);
  (void)unused;
  return blocks[0];
}

static void* volatile kept;

int main(void) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  for (int round = 0; round < 50; ++round) {
    pthread_t threads[20];
    for (int i = 0; i < 20; ++i) {
      if (pthread_create(&threads[i], &small, moment, NULL) != 0) return 1;
    }
    for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
  }
  kept = malloc(2000000);  // @top
  return 0;
}

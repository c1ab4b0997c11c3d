// 100,000 frames: the innermost are kept, the figures are exact, the cut is counted.
//
// SITE function=descend line=@deep  peak=321/1 leaked=321/1 total=321/1
// SITE function=shallow line=@plain peak=12300/1 leaked=12300/1 total=12300/1
// TRACKER truncated_stacks=1
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>
#include <pthread.h>

static void* volatile kept[2];

static int descend(int depth) {
  if (depth == 0) {
    kept[0] = malloc(321);  // @deep
    return 0;
  }
  return descend(depth - 1) + 1;
}

static void* work(void* unused) {
  (void)unused;
  return descend(100000) == 100000 ? NULL : (void*)1;
}

static void shallow(void) {
  kept[1] = malloc(12300);  // @plain
}

int main(void) {
  // On a stack of its own, so that the limit of the shell doesn't matter.
  pthread_attr_t large;
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, 64 << 20);
  pthread_t thread;
  void* result = NULL;
  if (pthread_create(&thread, &large, work, NULL) != 0) return 1;
  pthread_join(thread, &result);
  shallow();
  return result == NULL ? 0 : 2;
}

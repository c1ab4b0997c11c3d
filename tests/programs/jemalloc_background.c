// jemalloc starts and ends a thread of its own, each time from another stack. It does so with its
// locks taken, and the loader allocates for the thread. A tracker that asks jemalloc for its
// figures in that allocation waits for itself.
//
// SITE function=main line=@kept peak=5000/1 leaked=5000/1 total=5000/1
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "jemalloc_extensions.h"

static void* volatile kept;
static volatile int touched;

// libc keeps the stacks of threads that ended, with their storage, for the next that need no more.
static int grow_stacks(int i) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (256 + 4 * (size_t)i) << 10);
  return pthread_setattr_default_np(&attributes);
}

static int set(bool on) { return mallctl("background_thread", NULL, NULL, &on, sizeof on); }

static __attribute__((noinline)) int from_depth(int depth) {
  if (depth == 0) return set(true) != 0 || set(false) != 0;
  const int failed = from_depth(depth - 1);
  touched = depth;
  return failed;
}

int main(void) {
  kept = malloc(5000);  // @kept
  const struct timespec moment = {0, 1000 * 1000};
  for (int i = 0; i < 500; ++i) {
    if (grow_stacks(i) != 0 || from_depth(1 + i % 100) != 0) return 1;
    nanosleep(&moment, NULL);
  }
  return 0;
}

// 400 threads with 400 names, one at a time; each leaks 16 bytes. At most 256 names are kept, the
// others are summed in "[other threads]", and nothing is lost.
//
// SITE function=leak line=@leak peak=6400/400 leaked=6400/400 total=6400/400
// SITE function=main line=@top peak=90000/1 leaked=90000/1 total=90000/1
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static void* leak(void* argument) {
  long i = (long)argument;
  char name[] = "name-000";
  name[5] = (char)('0' + i / 100);
  name[6] = (char)('0' + i / 10 % 10);
  name[7] = (char)('0' + i % 10);
  pthread_setname_np(pthread_self(), name);
  return malloc(16);  // @leak
}

static void* volatile kept;

int main(void) {
  for (long i = 0; i < 400; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, leak, (void*)i) != 0) return 1;
    pthread_join(thread, NULL);
  }
  kept = malloc(90000);  // @top
  return 0;
}

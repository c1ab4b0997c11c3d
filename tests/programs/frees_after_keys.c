// 400 threads, one after the other, whose last free comes after their key destructors: libc frees
// strerror's buffer then. It is counted, and no thread leaves memory of the tracker behind: the
// threads need two slots, of about 24 kB each. Another allocator's preload adds two libraries.
//
// SITE function=moment line=@block peak=4000/400 leaked=4000/400 total=4000/400
// SITE function=moment line=@freed peak=0/0 leaked=0/0 total=4000/400
// SITE function=main   line=@top   peak=90000/1 leaked=90000/1 total=90000/1
// WITHIN function=moment line=@error peak=0/0 leaked=0/0 total=?
// TRACKER dropped_events=0 unknown_frees=0 bytes<=1100000 bytes@other<=1200000
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void* volatile unused;

static void* moment(void* argument) {
  void* block = malloc(10);  // @block
  free(malloc(10));          // @freed
  unused = strerror(12345);  // @error
  (void)argument;
  return block;
}

static void* volatile kept;

int main(void) {
  for (int i = 0; i < 400; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, moment, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  kept = malloc(90000);  // @top
  return 0;
}

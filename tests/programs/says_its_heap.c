// Not a known answer: for fault injection, which must not change its output. Three threads and the
// main one allocate from several stacks, enough for the tables to grow; the remaining heap is
// always the same.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 3, kBlocks = 20000 };

static void* allocate(size_t size) {
  char* p = malloc(size);
  if (p == NULL) abort();
  p[0] = 1;
  return p;
}

static void* work(void* unused) {
  (void)unused;
  static _Thread_local void* blocks[kBlocks];
  for (size_t i = 0; i < kBlocks; ++i) blocks[i] = allocate(16 + i % 100);
  for (size_t i = 0; i < kBlocks; ++i) {
    if (i % 10 != 0) free(blocks[i]);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  // One after the other: the peak is the same in every run.
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) abort();
    pthread_join(threads[i], NULL);
  }
  work(NULL);
  char* text = strdup("all blocks were there");
  puts(text);
  free(text);
  return 0;
}

// Blocks that one thread allocates, another frees, a third reallocates. An allocation stays with
// the place and the thread that made it.
//
// "maker" makes 100 blocks of 64. "taker" frees 60 of them. "mover" reallocates 30 to 128.
// 10 of maker's and mover's 30 are live at the end; the peak is at 100 × 64 + nothing: 6400, then
// after 60 frees 2560, then 640 + 3840 = 4480.
//
// SITE function=make line=@make thread=maker peak=6400/100 leaked=640/10  total=6400/100
// SITE function=move line=@move thread=mover peak=0/0      leaked=3840/30 total=3840/30
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static void* blocks[100];

static void* make(void* unused) {
  pthread_setname_np(pthread_self(), "maker");
  for (int i = 0; i < 100; ++i) blocks[i] = malloc(64);  // @make
  return unused;
}
static void* take(void* unused) {
  pthread_setname_np(pthread_self(), "taker");
  for (int i = 0; i < 60; ++i) free(blocks[i]);
  return unused;
}
static void* move(void* unused) {
  pthread_setname_np(pthread_self(), "mover");
  for (int i = 60; i < 90; ++i) blocks[i] = realloc(blocks[i], 128);  // @move
  return unused;
}

int main(void) {
  void* (*const steps[])(void*) = {make, take, move};
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, steps[i], NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}

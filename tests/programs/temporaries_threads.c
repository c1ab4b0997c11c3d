// Temporary is what the thread frees that allocated it; others' allocations don't count.
//
// handed: main's 64, which the other thread frees at once: not temporary. first: the other's 72,
// which main frees. again: main allocates 72 again (in glibc at the same address), and the other
// frees it: its own last block was there, but this one isn't its own. mine: main's 80, freed after
// the other thread allocated 20 × 1: temporary. left: the last block of a thread that ended, 32,
// freed by the next thread, which counts where that one did.
//
// CASE name=one
// CASE name=eight flags=--temporary,8
// CASE name=most flags=--temporary,64
// SITE function=main  line=@handed total=64/1 temporary=0/0
// SITE function=other line=@first  total=72/1 temporary=0/0
// SITE function=main  line=@again  total=72/1 temporary=0/0
// SITE function=main  line=@mine   total=80/1 temporary=80/1
// SITE function=other line=@theirs total=20/20 temporary=0/0
// SITE function=leave line=@left   total=32/1 temporary=0/0
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t turn;
static void* volatile block;
static void* volatile keep;

static void pass(void) { pthread_barrier_wait(&turn); }

static void* other(void* unused) {
  pass();  // main allocates "handed"
  free(block);
  block = malloc(72);  // @first
  pass();
  pass();  // main frees it, and allocates "again"
  free(block);
  pass();
  pass();  // main allocates "mine"
  for (int i = 0; i < 20; ++i) keep = malloc(1);  // @theirs
  pass();
  return unused;
}
static void* leave(void* unused) {
  block = malloc(32);  // @left
  return unused;
}
static void* take(void* unused) {
  free(block);
  return unused;
}

int main(void) {
  pthread_t thread;
  void* (*const successors[])(void*) = {leave, take};
  for (int i = 0; i < 2; ++i) {
    if (pthread_create(&thread, NULL, successors[i], NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  pthread_barrier_init(&turn, NULL, 2);
  if (pthread_create(&thread, NULL, other, NULL) != 0) return 1;
  block = malloc(64);  // @handed
  pass();
  pass();  // the other allocates "first"
  free(block);
  block = malloc(72);  // @again
  pass();
  pass();
  void* mine = malloc(80);  // @mine
  pass();
  pass();
  free(mine);
  pthread_join(thread, NULL);
  return 0;
}

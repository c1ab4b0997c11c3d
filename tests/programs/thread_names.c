// The same place under several thread names, which change while the thread runs.
//
// SITE function=leak line=@leak thread=thread_names peak=10/1 leaked=10/1 total=10/1
// SITE function=leak line=@leak thread=reader       peak=20/1 leaked=20/1 total=20/1
// SITE function=leak line=@leak thread=writer       peak=30/1 leaked=30/1 total=30/1
// SITE function=leak line=@leak thread=renamed      peak=40/1 leaked=40/1 total=40/1
// SITE function=main line=@top peak=90000/1 leaked=90000/1 total=90000/1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static void* leak(size_t n) {
  return malloc(n);  // @leak
}
static void* reader(void* unused) {
  pthread_setname_np(pthread_self(), "reader");
  leak(20);
  return unused;
}
static void* writer(void* unused) {
  pthread_setname_np(pthread_self(), "writer");
  leak(30);
  pthread_setname_np(pthread_self(), "renamed");
  leak(40);
  return unused;
}

static void* volatile kept;

int main(void) {
  leak(10);
  pthread_t thread;
  if (pthread_create(&thread, NULL, reader, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  if (pthread_create(&thread, NULL, writer, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  kept = malloc(90000);  // @top
  return 0;
}

// Wrappers of malloc and similar functions that look for the real function at their first call:
// code within that call must not need it. They count their calls and print the numbers: a tracker
// makes no call of its own.
//
// Built twice: in the executable (lazy_wrappers), and as a library to preload (liblazy_preload.so).
// The library also wraps functions whose search needs a lock and memory: mmap, mprotect,
// clock_gettime, close.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static long allocations, frees;

#define REAL(name)               \
  static __typeof__(name)* real; \
  if (real == NULL) real = dlsym(RTLD_NEXT, #name)

void* malloc(size_t size) {
  REAL(malloc);
  ++allocations;
  return real(size);
}
void free(void* block) {
  REAL(free);
  ++frees;
  real(block);
}

#ifdef PRELOADED

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void lock(void) {
  pthread_mutex_lock(&mutex);
  free(malloc(33));
}
static void unlock(void) { pthread_mutex_unlock(&mutex); }

#define UNDER_LOCK(call)          \
  lock();                         \
  __typeof__(call) result = call; \
  unlock();                       \
  return result

void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  REAL(mmap);
  UNDER_LOCK(real(address, bytes, protection, flags, fd, offset));
}
int mprotect(void* address, size_t bytes, int protection) {
  REAL(mprotect);
  UNDER_LOCK(real(address, bytes, protection));
}
int clock_gettime(clockid_t clock, struct timespec* now) {
  REAL(clock_gettime);
  UNDER_LOCK(real(clock, now));
}
int close(int fd) {
  extern int close(int);
  REAL(close);
  UNDER_LOCK(real(fd));
}
__attribute__((destructor)) static void say(void) {
  fprintf(stderr, "%ld %ld\n", allocations, frees);
}

#else

static void* thread(void* block) {
  free(block);
  return malloc(10);
}

int main(void) {
  free(strdup("x"));
  pthread_t id;
  void* block = NULL;
  pthread_create(&id, NULL, thread, malloc(77));
  pthread_join(id, &block);
  free(block);
  // In vain, with a message that libc allocates.
  if (dlsym(RTLD_NEXT, "nobody_has_this") == NULL) puts("nobody has it");
  const char* message = dlerror();
  puts(message != NULL && strstr(message, "nobody_has_this") != NULL ? "it is said" : "no message");
  printf("%ld %ld\n", allocations, frees);
  return 0;
}

#endif

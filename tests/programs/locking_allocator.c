// An allocator in the executable with a lock that isn't recursive. While holding it, it calls other
// functions that a tracker hooks, from the very first malloc on. A hook that allocates or locks
// there waits for ever, and SIGALRM ends the program.
//
// Built twice: with an arena of its own (locking_allocator), and as a wrapper of libc's malloc that
// it looks for with dlsym (locking_wrapper).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int locked;
static unsigned calls;

static void lock(void) {
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE) != 0) __builtin_ia32_pause();
}
static void unlock(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

__attribute__((constructor(101))) static void end_if_it_hangs(void) { alarm(20); }

// Functions for which glibc itself needs no memory.
static void call_what_is_hooked(void) {
  char name[16];
  prctl(PR_GET_NAME, name);
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page = mremap(page, 4096, 8192, MREMAP_MAYMOVE);
  mprotect(page, 8192, PROT_READ);
  munmap(page, 8192);
  sbrk(0);
  brk(sbrk(0));
  syscall(SYS_gettid);
  syscall(SYS_prctl, PR_GET_NAME, name);
  pthread_setname_np(pthread_self(), "allocates");
  prctl(PR_SET_NAME, "allocates");
  syscall(SYS_prctl, PR_SET_NAME, "allocates");
  // The same by the address that a program looks for.
  int (*next_prctl)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
  next_prctl(PR_GET_NAME, name);
  void* (*next_mmap)(void*, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
  page = next_mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int (*next_munmap)(void*, size_t) = dlsym(RTLD_NEXT, "munmap");
  next_munmap(page, 4096);
}

#ifdef WRAPS
static void* take(size_t size, size_t alignment) {
  void* (*next)(size_t, size_t) = dlsym(RTLD_NEXT, "memalign");
  return next(alignment, size);
}
static void give_back(void* block) {
  void (*next)(void*) = dlsym(RTLD_NEXT, "free");
  next(block);
}
#else
static alignas(4096) unsigned char arena[8 << 20];
static size_t used;
static void* take(size_t size, size_t alignment) {
  const size_t at = (used + alignment - 1) / alignment * alignment;
  if (at + size > sizeof arena) return NULL;
  used = at + size;
  return arena + at;
}
static void give_back(void* block) { (void)block; }
#endif

// The size is kept before the block.
static void* allocate(size_t size, size_t alignment) {
  if (alignment < 16) alignment = 16;
  lock();
  if (calls++ < 100) call_what_is_hooked();
  unsigned char* block = take(size + alignment, alignment);
  unlock();
  if (block == NULL) return NULL;
  block += alignment;
  memcpy(block - 16, &size, sizeof size);
  memcpy(block - 8, &alignment, sizeof alignment);
  return block;
}

void* malloc(size_t size) { return allocate(size, 16); }
void free(void* block) {
  if (block == NULL) return;
  size_t alignment;
  memcpy(&alignment, (unsigned char*)block - 8, sizeof alignment);
  lock();
  give_back((unsigned char*)block - alignment);
  unlock();
}
void* calloc(size_t count, size_t size) {
  void* block = allocate(count * size, 16);
  return block != NULL ? memset(block, 0, count * size) : NULL;
}
void* realloc(void* old, size_t size) {
  void* block = allocate(size, 16);
  if (old == NULL || block == NULL) return block;
  size_t had;
  memcpy(&had, (unsigned char*)old - 16, sizeof had);
  memcpy(block, old, had < size ? had : size);
  free(old);
  return block;
}
void* memalign(size_t alignment, size_t size) { return allocate(size, alignment); }
void* aligned_alloc(size_t alignment, size_t size) { return allocate(size, alignment); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = allocate(size, alignment);
  return *block != NULL ? 0 : 12;
}

static void* thread(void* block) {
  free(block);
  return malloc(10);
}

int main(void) {
  calls = 0;  // once more from here on
  pthread_t id;
  void* block = NULL;
  for (int i = 0; i < 20; ++i) {
    pthread_create(&id, NULL, thread, malloc(100));
    pthread_join(id, &block);
    free(block);
  }
  puts("done");
  return 0;
}

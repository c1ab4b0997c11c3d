// An allocator with jemalloc's mallctl, which takes malloc's lock. malloc takes no lock for blocks
// below 256 bytes, as if they came from a thread's cache. Memory is never given back.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void (*volatile with_lock)(void);  // called once by the next thread that has the lock

enum { kSmall = 256 };
static char memory[32 << 20];
static size_t used;
static volatile int locked;

static void lock(void) {
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE) != 0) __builtin_ia32_pause();
  void (*called)(void) = with_lock;
  with_lock = NULL;
  if (called != NULL) called();
}
static void unlock(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

static void* take(size_t size, size_t alignment) {
  const size_t bytes = ((size + 15) & ~(size_t)15) + 16 + alignment;
  if (size >= kSmall) lock();
  const size_t at = __atomic_fetch_add(&used, bytes, __ATOMIC_RELAXED);
  if (size >= kSmall) unlock();
  if (at + bytes > sizeof memory) return NULL;
  char* block = (char*)(((uintptr_t)memory + at + 15 + alignment) & ~(uintptr_t)(alignment - 1));
  memcpy(block - 8, &size, 8);
  return block;
}

void* malloc(size_t size) { return take(size, 16); }
void free(void* address) { (void)address; }
void* calloc(size_t count, size_t size) { return take(count * size, 16); }
void* realloc(void* address, size_t size) {
  void* block = take(size, 16);
  if (address == NULL || block == NULL) return block;
  size_t old;
  memcpy(&old, (char*)address - 8, 8);
  return memcpy(block, address, old < size ? old : size);
}
void* memalign(size_t alignment, size_t size) { return take(size, alignment); }
void* aligned_alloc(size_t alignment, size_t size) { return take(size, alignment); }
int posix_memalign(void** result, size_t alignment, size_t size) {
  *result = take(size, alignment);
  return *result != NULL ? 0 : ENOMEM;
}

int mallctl(const char* name, void* old, size_t* old_bytes, void* fresh, size_t bytes) {
  (void)fresh;
  (void)bytes;
  lock();
  size_t value = 0;
  if (strcmp(name, "stats.allocated") == 0) value = used;
  if (strcmp(name, "stats.resident") == 0) value = used + 1000;
  unlock();
  if (old != NULL) memcpy(old, &value, *old_bytes < sizeof value ? *old_bytes : sizeof value);
  return 0;
}

// An allocator that may be left at any instruction, and that reports when it is entered. calloc's
// blocks are from a ring, since it is called often; the others are never reused.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void (*volatile in_malloc)(void);

static char memory[16 << 20], ring[1 << 20];
static size_t used, ring_used;

static void* take(size_t size, size_t alignment) {
  const size_t bytes = (size + 15 & ~(size_t)15) + 16 + alignment;
  const size_t at = __atomic_fetch_add(&used, bytes, __ATOMIC_RELAXED);
  if (at + bytes > sizeof memory) return NULL;
  char* block = (char*)(((uintptr_t)memory + at + 15 + alignment) & ~(uintptr_t)(alignment - 1));
  memcpy(block - 8, &size, 8);
  return block;
}

void* malloc(size_t size) {
  void (*entered)(void) = in_malloc;
  in_malloc = NULL;
  if (entered != NULL) entered();
  return take(size, 16);
}
void free(void* address) { (void)address; }
void* calloc(size_t count, size_t size) {
  if (count != 1 || size > 64) return take(count * size, 16);
  return ring + __atomic_fetch_add(&ring_used, 64, __ATOMIC_RELAXED) % sizeof ring;
}
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

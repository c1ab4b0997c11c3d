// The least overhead that an exact tracker can have: `./dev bench floor` preloads this in place of
// memprof.
//
//   FLOOR=forward  every malloc, free, calloc, realloc is interposed and passed on; nothing is kept
//   FLOOR=map      each live block's size is also kept by its address, as any free needs to know its
//                  size: a line of memory for each block at its allocation, and the same line again
//                  at its free
//
// No stack is taken, nothing is counted. The table has a fixed size: further blocks are not kept.
// C++ operators of an allocator that has its own (jemalloc) bypass it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  kLines = 1 << 20,
  kSlots = 4,
  kLinesToTry = 8
};  // 64 MiB, of which pages are touched as used

typedef struct {
  uint64_t key;
  uint64_t size;
} Slot;
typedef struct {
  _Alignas(64) Slot slots[kSlots];
} Line;

static Line* lines;
static void* (*real_malloc)(size_t);
static void (*real_free)(void*);
static void* (*real_calloc)(size_t, size_t);
static void* (*real_realloc)(void*, size_t);
static char early[4096] __attribute__((aligned(16)));
static size_t early_used;

// Neighbours in the heap are neighbours in the table.
static size_t LineOf(uint64_t address) { return (address >> 7) % kLines; }

static void Keep(void* block, size_t size) {
  if (lines == NULL || block == NULL) return;
  const size_t first = LineOf((uint64_t)(uintptr_t)block);
  for (size_t line = first; line < first + kLinesToTry; ++line) {
    Slot* slots = lines[line % kLines].slots;
    for (int i = 0; i < kSlots; ++i) {
      uint64_t none = 0;
      if (__atomic_load_n(&slots[i].key, __ATOMIC_RELAXED) == 0 &&
          __atomic_compare_exchange_n(&slots[i].key, &none, (uint64_t)(uintptr_t)block, 0,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        slots[i].size = size;
        return;
      }
    }
  }
}

static void Forget(void* block) {
  if (lines == NULL || block == NULL) return;
  const size_t first = LineOf((uint64_t)(uintptr_t)block);
  for (size_t line = first; line < first + kLinesToTry; ++line) {
    Slot* slots = lines[line % kLines].slots;
    for (int i = 0; i < kSlots; ++i) {
      if (slots[i].key == (uint64_t)(uintptr_t)block) {
        __atomic_store_n(&slots[i].key, 0, __ATOMIC_RELEASE);
        return;
      }
    }
  }
}

// At the first call, since other constructors may allocate before ours would run. dlsym's own
// requests meanwhile are served from `early`.
static void Init(void) {
  static int begun;
  if (begun) return;
  begun = 1;
  real_calloc = (void* (*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
  real_free = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  real_realloc = (void* (*)(void*, size_t))dlsym(RTLD_NEXT, "realloc");
  const char* floor = getenv("FLOOR");
  if (floor != NULL && strcmp(floor, "map") == 0) {
    void* memory = mmap(NULL, sizeof(Line) * kLines, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) lines = memory;
  }
  real_malloc = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
}

static void* Early(size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (early_used + size > sizeof early) abort();
  early_used += size;
  return early + early_used - size;
}
static int IsEarly(void* block) {
  return (char*)block >= early && (char*)block < early + sizeof early;
}

void* malloc(size_t size) {
  if (__builtin_expect(real_malloc == NULL, 0)) Init();
  if (__builtin_expect(real_malloc == NULL, 0)) return Early(size);
  void* block = real_malloc(size);
  Keep(block, size);
  return block;
}
void free(void* block) {
  if (__builtin_expect(real_free == NULL, 0) || IsEarly(block)) return;
  Forget(block);
  real_free(block);
}
void* calloc(size_t count, size_t size) {
  if (__builtin_expect(real_malloc == NULL, 0)) Init();
  if (__builtin_expect(real_malloc == NULL, 0)) return Early(count * size);
  void* block = real_calloc(count, size);
  Keep(block, count * size);
  return block;
}
void* realloc(void* block, size_t size) {
  if (__builtin_expect(real_malloc == NULL, 0)) Init();
  if (__builtin_expect(real_malloc == NULL, 0)) return Early(size);
  Forget(block);
  void* moved = real_realloc(block, size);
  Keep(moved, size);
  return moved;
}

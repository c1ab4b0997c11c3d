// The C allocator behind our hooks: the functions of the next object in the loader's order.
//
// Thread safety: any thread. Each function is resolved at its first use. Before `malloc` is known
// (an IFUNC resolver may allocate), memory comes from a small static arena that is never given
// back.
// Failure: a function that nobody has is nullptr (the C23 ones).
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof {

struct RealAllocator {
  void* (*malloc)(size_t);
  void (*free)(void*);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*reallocarray)(void*, size_t, size_t);
  void* (*memalign)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
  void (*free_sized)(void*, size_t);
  void (*free_aligned_sized)(void*, size_t, size_t);
};

extern RealAllocator real;

// True if the program's references to realloc aren't bound to our hook but to a definition of the
// executable's own (or of an earlier preload). libc's reallocarray calls that one, and what it
// returns is freed where no hook sees it. Set while the process has one thread.
extern bool realloc_is_foreign;

// Fills `real`; cheap once it is filled. False: it is being filled right now, perhaps by this
// thread: use the arena.
bool ResolveRealAllocator();

// True if the address is in the object that has malloc.
bool IsRealAllocators(uintptr_t address);

inline bool RealReady() { return real.malloc != nullptr || ResolveRealAllocator(); }

// The arena. nullptr: used up.
void* ArenaAllocate(size_t size, size_t alignment);
bool InArena(const void* address);
size_t ArenaSize(const void* address);  // Pre: InArena

}  // namespace memprof

// The C allocation functions.

#include <cerrno>
#include <cstring>

#include "aggregator/hooks/hook.h"
#include "aggregator/state/counting.h"

using namespace memprof;  // the hooks themselves are global C functions

namespace {

// Moves a block out of the arena into one of the real allocator, once there is one.
void* MoveOutOfArena(void* address, size_t size) {
  void* moved = RealReady() ? real.malloc(size) : ArenaAllocate(size, 16);
  if (moved != nullptr) {
    const size_t old = ArenaSize(address);
    memcpy(moved, address, old < size ? old : size);
  }
  return moved;
}

// pvalloc for a libc without it.
void* WholePages(size_t size) {
  constexpr size_t kPage = 4096;
  if (size > SIZE_MAX - kPage) {
    errno = ENOMEM;
    return nullptr;
  }
  return real.memalign(kPage, (size + kPage - 1) & ~(kPage - 1));
}

#ifndef __OPTIMIZE__
#error Calls at the end of a hook are to be jumps: build with -O2.
#endif
// Tail calls of the hook, so that they are jumped to: caller and frame are the hook's.
[[gnu::noinline]] void* CountedMalloc(size_t size) {
  return Allocate(size, 0, {MEMPROF_CALLER(), AllocatorKind::kMalloc},
                  [=] { return real.malloc(size); });
}
[[gnu::noinline]] void CountedFree(void* address) {
  if (__builtin_expect(!RealReady(), 0)) return;
  Release(address, [=] { real.free(address); });
}

// True if the process samples and the hook is within no other.
bool SamplesOutermost() { return __builtin_expect(CountsSamples(), 0) && !WithinHook(); }

template <typename RealCall>
[[gnu::always_inline]] inline void* Reallocate(void* address, size_t size, const Caller& caller,
                                               RealCall real_call) {
  if (InArena(address)) return MoveOutOfArena(address, size);
  // glibc frees for a size of 0.
  return ReallocateBlock(address, size, size == 0, caller, real_call);
}

}  // namespace

extern "C" {

// With samples nearly every event passes here, and saves no register that only the other paths
// need.
MEMPROF_HOOK void* malloc(size_t size) {
  if (SamplesOutermost() && PassesUnsampled(size)) {
    const OutermostScope scope(kInAllocator);
    return real.malloc(size);
  }
  return CountedMalloc(size);
}

MEMPROF_HOOK void free(void* address) {
  // The first call of all may be free(NULL): the real functions aren't known then.
  if (SamplesOutermost() && !MaybeSample(address) && !InArena(address) && RealReady()) {
    const OutermostScope scope(kInAllocator | kInFree);
    real.free(address);
    return;
  }
  CountedFree(address);
}

MEMPROF_HOOK void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;  // the real function fails
  return Allocate(bytes, 0, {MEMPROF_CALLER(), AllocatorKind::kCalloc},
                  [=] { return real.calloc(count, size); });
}

MEMPROF_HOOK void* realloc(void* address, size_t size) {
  if (__builtin_expect(!RealReady(), 0)) {
    return address == nullptr ? ArenaAllocate(size, 0) : MoveOutOfArena(address, size);
  }
  return Reallocate(address, size, {MEMPROF_CALLER(), AllocatorKind::kRealloc},
                    [=] { return real.realloc(address, size); });
}

MEMPROF_HOOK void* reallocarray(void* address, size_t count, size_t size) {
  size_t bytes;
  if (!RealReady() || __builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (__builtin_expect(realloc_is_foreign, 0) && real.reallocarray != nullptr) {
    return real.reallocarray(address, count, size);
  }
  return Reallocate(address, bytes, {MEMPROF_CALLER(), AllocatorKind::kRealloc}, [=] {
    return real.reallocarray != nullptr ? real.reallocarray(address, count, size)
                                        : real.realloc(address, bytes);
  });
}

MEMPROF_HOOK void* memalign(size_t alignment, size_t size) {
  return Allocate(size, alignment, {MEMPROF_CALLER(), AllocatorKind::kAligned},
                  [=] { return real.memalign(alignment, size); });
}

MEMPROF_HOOK int posix_memalign(void** result, size_t alignment, size_t size) {
  if (!RealReady()) return ENOMEM;
  const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kAligned};
  if (CalledWithin(kInAllocator, caller.registers.sp))
    return real.posix_memalign(result, alignment, size);
  int status;
  if (!CountsAll()) {
    AllocateSampled(size, caller, [&] {
      status = real.posix_memalign(result, alignment, size);
      return status == 0 ? *result : nullptr;
    });
    return status;
  }
  {
    const AllocatorScope scope;
    status = real.posix_memalign(result, alignment, size);
  }
  if (status == 0 && *result != nullptr) OnAllocated(*result, size, caller);
  return status;
}

MEMPROF_HOOK void* aligned_alloc(size_t alignment, size_t size) {
  return Allocate(size, alignment, {MEMPROF_CALLER(), AllocatorKind::kAligned},
                  [=] { return real.aligned_alloc(alignment, size); });
}

MEMPROF_HOOK void* valloc(size_t size) {
  return Allocate(size, 4096, {MEMPROF_CALLER(), AllocatorKind::kAligned},
                  [=] { return real.valloc(size); });
}

MEMPROF_HOOK void* pvalloc(size_t size) {
  return Allocate(size, 4096, {MEMPROF_CALLER(), AllocatorKind::kAligned},
                  [=] { return real.pvalloc != nullptr ? real.pvalloc(size) : WholePages(size); });
}

// C23. If libc has none, they are what the standard says: free with a promise.
MEMPROF_HOOK void free_sized(void* address, size_t size) {
  if (__builtin_expect(!RealReady(), 0)) return;
  Release(address, [=] {
    real.free_sized != nullptr ? real.free_sized(address, size) : real.free(address);
  });
}

MEMPROF_HOOK void free_aligned_sized(void* address, size_t alignment, size_t size) {
  if (__builtin_expect(!RealReady(), 0)) return;
  Release(address, [=] {
    real.free_aligned_sized != nullptr ? real.free_aligned_sized(address, alignment, size)
                                       : real.free(address);
  });
}

}  // extern "C"

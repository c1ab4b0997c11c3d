#include "aggregator/jemalloc/without_jemalloc.h"

#include <malloc.h>

#include <cstdlib>
#include <cstring>

namespace memprof {
namespace {

// jemalloc/jemalloc.h: the low bits are the logarithm of the alignment.
constexpr int kLogAlignMask = 63;
constexpr int kZero = 0x40;

// Blocks of at least this size have this alignment. A smaller block is aligned only for what fits
// into it (tcmalloc, mimalloc).
constexpr size_t kMallocAlignment = 16;

size_t AlignmentOf(int flags) { return size_t{1} << (flags & kLogAlignMask); }

// The size to request from malloc for a block of that alignment. jemalloc treats 0 as 1; realloc
// would free.
size_t AskedFor(size_t size, int flags) {
  const size_t least = AlignmentOf(flags) <= kMallocAlignment ? AlignmentOf(flags) : 1;
  return size > least ? size : least;
}

}  // namespace

void* MallocxOnMalloc(size_t size, int flags) {
  size = AskedFor(size, flags);
  const bool zero = (flags & kZero) != 0;
  if (AlignmentOf(flags) <= kMallocAlignment) return zero ? calloc(1, size) : malloc(size);
  void* address = memalign(AlignmentOf(flags), size);
  if (zero && address != nullptr) memset(address, 0, size);
  return address;
}

void* RallocxOnMalloc(void* address, size_t size, int flags) {
  size = AskedFor(size, flags);
  const size_t old = malloc_usable_size(address);
  void* result;
  if (AlignmentOf(flags) <= kMallocAlignment) {
    result = realloc(address, size);
  } else {
    result = MallocxOnMalloc(size, flags & kLogAlignMask);
    if (result != nullptr) {
      memcpy(result, address, old < size ? old : size);
      free(address);
    }
  }
  if (result != nullptr && (flags & kZero) != 0 && size > old) {
    memset(static_cast<char*>(result) + old, 0, size - old);
  }
  return result;
}

size_t XallocxOnMalloc(void* address, size_t, size_t, int) { return malloc_usable_size(address); }

void DallocxOnMalloc(void* address, int) { free(address); }

void SdallocxOnMalloc(void* address, size_t, int) { free(address); }

}  // namespace memprof

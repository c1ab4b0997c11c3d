// AllocatorKind: which function of the allocator the program called. A part of a site's label in
// the region, and of a site in the capture: the numbers never change their meaning.
//
// Freestanding, as region_layout.h.
#pragma once

#include <cstdint>

namespace memprof {

enum class AllocatorKind : uint8_t {
  kUnknown = 0,  // of the row [tables full], and in captures from before kinds were kept
  kMalloc = 1,
  kCalloc = 2,
  kRealloc = 3,   // also of no block; reallocarray
  kAligned = 4,   // memalign, posix_memalign, aligned_alloc, valloc, pvalloc
  kNew = 5,       // operator new, aligned and nothrow too
  kNewArray = 6,  // operator new[] likewise
  kMallocx = 7,   // jemalloc's
  kRallocx = 8,   // and xallocx
  kPool = 9,      // a pool of the program's own, which it told us of
};
inline constexpr uint32_t kAllocatorKinds = 10;

// The name in reports. A number without a name is called as kUnknown is.
inline constexpr const char* NameOf(AllocatorKind kind) {
  switch (kind) {
    case AllocatorKind::kMalloc:
      return "malloc";
    case AllocatorKind::kCalloc:
      return "calloc";
    case AllocatorKind::kRealloc:
      return "realloc";
    case AllocatorKind::kAligned:
      return "aligned";
    case AllocatorKind::kNew:
      return "new";
    case AllocatorKind::kNewArray:
      return "new[]";
    case AllocatorKind::kMallocx:
      return "mallocx";
    case AllocatorKind::kRallocx:
      return "rallocx";
    case AllocatorKind::kPool:
      return "pool";
    case AllocatorKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace memprof

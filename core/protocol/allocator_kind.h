// AllocatorKind: the function of the allocator that the program called. It is a part of a site's
// label in the region, and of a site in the capture: a number never changes its meaning.
//
// Freestanding, as region_layout.h.
#pragma once

#include <cstdint>

namespace memprof {

enum class AllocatorKind : uint8_t {
  kUnknown = 0,  // of the row [tables full], and in captures older than kinds
  kMalloc = 1,
  kCalloc = 2,
  kRealloc = 3,   // also realloc(nullptr), and reallocarray
  kAligned = 4,   // memalign, posix_memalign, aligned_alloc, valloc, pvalloc
  kNew = 5,       // operator new, aligned and nothrow too
  kNewArray = 6,  // operator new[] likewise
  kMallocx = 7,   // jemalloc's
  kRallocx = 8,   // and xallocx
  kPool = 9,      // a pool of the program's own, reported through memprof.h
  // Objects and buffers of a Python interpreter (TrackerOptions.python_objects)
  kPymallocMalloc = 10,
  kPymallocCalloc = 11,
  kPymallocRealloc = 12,
};
inline constexpr uint32_t kAllocatorKinds = 13;

// The name in reports. An unknown number has the name of kUnknown.
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
    case AllocatorKind::kPymallocMalloc:
      return "pymalloc_malloc";
    case AllocatorKind::kPymallocCalloc:
      return "pymalloc_calloc";
    case AllocatorKind::kPymallocRealloc:
      return "pymalloc_realloc";
    case AllocatorKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace memprof

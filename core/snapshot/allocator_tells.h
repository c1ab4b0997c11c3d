// Whether an allocator's sample has any figure. glibc and mimalloc never give one, and no allocator
// does in a program that ever had a second thread. Only the provider is known then.
//
// Thread safety: pure.
#pragma once

#include "core/snapshot/memory_record.h"

namespace memprof {

inline bool Tells(const AllocatorSample& said) {
  return said.allocated_bytes || said.cached_bytes || said.free_bytes || said.metadata_bytes;
}

}  // namespace memprof

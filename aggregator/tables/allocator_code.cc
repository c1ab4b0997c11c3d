#include "aggregator/tables/allocator_code.h"

namespace memprof {

constinit AllocatorCode allocator_code;

void AllocatorCode::Add(uintptr_t start, uintptr_t end) {
  if (count_ == kMaxAllocatorRanges || start >= end) return;
  ranges_[count_] = {start, end};
  ++count_;
}

}  // namespace memprof

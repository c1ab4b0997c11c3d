// AllocatorCode: the code of an allocator that reports its own events. The frames between the
// program's call and our hook are the allocator's, and no part of the event's stack.
//
// Thread safety: filled once, before the allocator's first event; then any thread.
#pragma once

#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

class AllocatorCode {
 public:
  // At most kMaxAllocatorRanges in all; further ranges are ignored.
  void Add(uintptr_t start, uintptr_t end);

  bool empty() const { return count_ == 0; }

  // `pc` is a return address.
  bool Has(uintptr_t pc) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (pc - 1 - ranges_[i].start < ranges_[i].end - ranges_[i].start) return true;
    }
    return false;
  }

 private:
  CodeRange ranges_[kMaxAllocatorRanges] = {};
  uint32_t count_ = 0;
};

extern AllocatorCode allocator_code;

}  // namespace memprof

// Finds the chunks of kCellChunks that have figures: those of thread slots, and those of shared
// cells that are in use (region_layout.h).
//
// Freestanding, as region_layout.h. Thread safety: the region's writers may go on. A chunk that
// comes into use meanwhile may be left out.
// Memory order: a group's bit is released before anything is booked in its chunk, and acquired
// here.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

// Calls visit(first, chunks) for runs of such chunks. No chunk is visited twice and all are below
// `capacity`, whatever the words of kSharedGroups say. Pre: own <= capacity.
template <typename Visit>
void VisitChunksInUse(uint32_t own, uint32_t capacity, const std::atomic<uint64_t>* words,
                      uint32_t word_count, Visit visit) {
  if (own != 0) visit(uint32_t{0}, own);
  for (uint32_t i = 0; i < word_count; ++i) {
    for (uint64_t bits = words[i].load(std::memory_order_acquire); bits != 0; bits &= bits - 1) {
      const uint32_t group = i * kGroupsPerWord + static_cast<uint32_t>(__builtin_ctzll(bits));
      if (group < capacity - own) visit(capacity - 1 - group, uint32_t{1});
    }
  }
}

}  // namespace memprof

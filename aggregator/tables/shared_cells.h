// SharedCells: cells that many threads write, with atomic adds. For the rare events that have no
// slot of their own: a signal handler that allocates while its thread is inside the tracker, and
// threads above kMaxSlots.
//
// Thread safety: any thread, also a signal handler; lock-free. Totals and live figures are exact;
// rows at the peak may be off by what went through here (RegionHeader.shared_bytes says how much).
// Failure: Find gives kNoCell when the region has no room.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/region.h"
#include "aggregator/tables/intern_index.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

class SharedCells {
 public:
  constexpr explicit SharedCells(const Region& region) : region_(region) {}

  uint32_t Find(uint32_t site);

  // The region is another one, and nobody else uses the cells.
  void Restart();

 private:
  static constexpr uint32_t kMaxChunks = 1024;

  const Region& region_;
  InternIndex index_;
  std::atomic<uint32_t> used_{0};
  std::atomic<uint32_t> chunk_plus_one_[kMaxChunks] = {};
};

}  // namespace memprof

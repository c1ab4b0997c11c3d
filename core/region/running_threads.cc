#include "core/region/running_threads.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/once.h"
#include "core/protocol/children_area.h"
#include "core/protocol/region_layout.h"

namespace memprof {
namespace {

// By the slot's number.
std::vector<bool> SlotsOfRunningThreads(const RegionView& region) {
  std::vector<bool> running(region.capacity(Table::kSlots), false);
  const uint32_t pid = Once(region.header().pid);
  if (pid == 0 || pid == kUnknownPid) return running;
  const auto* records = region.Records<SlotRecord>(Table::kSlots);
  for (uint32_t i = 0; i < running.size(); ++i) {
    const uint32_t owner = records[i].owner.load(std::memory_order_acquire);
    const uint32_t taken = records[i].taken.load(std::memory_order_relaxed);
    running[i] = owner != 0 && owner != kUnknownOwner && owner != pid && taken == 1;
  }
  return running;
}

}  // namespace

std::vector<bool> SitesOfRunningThreads(const RegionView& region, size_t sites) {
  const std::vector<bool> running = SlotsOfRunningThreads(region);
  std::vector<bool> by_running(sites, false);
  if (std::find(running.begin(), running.end(), true) == running.end()) return by_running;
  std::vector<bool> by_others(sites, false);
  const auto* chunks = region.Records<CellChunk>(Table::kCellChunks);
  const auto* owners = region.Records<std::atomic<uint32_t>>(Table::kChunkOwners);
  // The chunks behind those of slots are shared.
  const uint32_t owned =
      std::min(region.count(Table::kCellChunks), region.capacity(Table::kChunkOwners));
  const auto add = [&](uint32_t chunk) {
    const uint32_t slot_plus_one =
        chunk < owned ? owners[chunk].load(std::memory_order_relaxed) : 0;
    const bool is_running =
        slot_plus_one != 0 && slot_plus_one <= running.size() && running[slot_plus_one - 1];
    for (const Cell& cell : chunks[chunk].cells) {
      const uint32_t site = cell.site_plus_one.load(std::memory_order_acquire);
      if (site == 0 || site > sites) continue;
      if (cell.allocated_count.load(std::memory_order_acquire) == 0 &&
          cell.allocated_bytes.load(std::memory_order_acquire) == 0) {
        continue;
      }
      (is_running ? by_running : by_others)[site - 1] = true;
    }
  };
  region.VisitChunks([&](uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) add(i);
  });
  for (size_t i = 0; i < sites; ++i) by_running[i] = by_running[i] && !by_others[i];
  return by_running;
}

}  // namespace memprof

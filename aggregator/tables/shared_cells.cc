#include "aggregator/tables/shared_cells.h"

#include <atomic>

namespace memprof {
namespace {

// Sets the word to `change(use)`. False: `change` returned false, and nothing is changed.
template <typename Change>
bool ChangeUse(const Region& region, Change change, ChunkUse* after) {
  std::atomic<uint64_t>& word = region.header().chunk_use;
  uint64_t seen = word.load(std::memory_order_relaxed);
  do {
    *after = UnpackChunkUse(seen);
    if (!change(*after)) return false;
  } while (!word.compare_exchange_weak(seen, Pack(*after), std::memory_order_relaxed));
  return true;
}

}  // namespace

uint32_t TakeOwnChunk(const Region& region) {
  const uint32_t capacity = region.capacity(Table::kCellChunks);
  ChunkUse use;
  const auto take = [&](ChunkUse& now) { return ++now.own <= capacity - now.groups; };
  if (!ChangeUse(region, take, &use)) return kNoRecord;
  // Published before any of its cells. Other threads may have taken later chunks meanwhile.
  auto& count = region.header().counts[static_cast<size_t>(Table::kCellChunks)];
  uint32_t published = count.load(std::memory_order_relaxed);
  while (published < use.own &&
         !count.compare_exchange_weak(published, use.own, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  return use.own - 1;
}

bool KeepSharedCell(const Region& region, uint32_t site) {
  const uint32_t capacity = region.capacity(Table::kCellChunks);
  const uint32_t wanted = SharedGroupOf(site) + 1;
  ChunkUse use;
  ChangeUse(
      region,
      [&](ChunkUse& now) {
        if (now.groups >= wanted || wanted > capacity - now.own) return false;
        now.groups = wanted;
        return true;
      },
      &use);
  return use.groups >= wanted;
}

uint32_t SharedCell(const Region& region, uint32_t site) {
  if (site >= region.count(Table::kSites)) site = 0;
  const uint32_t group = SharedGroupOf(site);
  const uint32_t chunk = region.capacity(Table::kCellChunks) - 1 - group;
  const uint32_t id = chunk * kCellsPerChunk + site % kCellsPerChunk;
  std::atomic<uint32_t>& owner = region.cells()[id].site_plus_one;
  // Acquires, so that whoever gets the cell from us sees the details' site, too.
  if (owner.load(std::memory_order_acquire) != site + 1) {
    region.details()[id].site_plus_one.store(site + 1, std::memory_order_release);
    owner.store(site + 1, std::memory_order_release);
  }
  std::atomic<uint64_t>& word =
      region.Records<std::atomic<uint64_t>>(Table::kSharedGroups)[group / kGroupsPerWord];
  const uint64_t bit = uint64_t{1} << group % kGroupsPerWord;
  if ((word.load(std::memory_order_relaxed) & bit) == 0) {
    word.fetch_or(bit, std::memory_order_release);
  }
  return id;
}

}  // namespace memprof

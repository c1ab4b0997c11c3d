#include "aggregator/tables/shared_cells.h"

#include "aggregator/tables/live_map.h"

namespace memprof {

void SharedCells::Restart() {
  index_.Destroy();
  used_.store(0, std::memory_order_relaxed);
  for (auto& chunk : chunk_plus_one_) {
    if (chunk.load(std::memory_order_relaxed) != 0) chunk.store(0, std::memory_order_relaxed);
  }
}

uint32_t SharedCells::Find(uint32_t site) {
  auto cell = [&](uint32_t id) -> Cell& { return CellAt(region_, id); };
  const uint64_t hash = MixHash(site, 0);
  const uint32_t found = index_.Find(hash, [&](uint32_t id) {
    return cell(id).site_plus_one.load(std::memory_order_relaxed) == site + 1;
  });
  if (found != InternIndex::kNone) return found;

  const uint32_t number = used_.fetch_add(1, std::memory_order_relaxed);
  if (number / kCellsPerChunk >= kMaxChunks) {
    used_.fetch_sub(1, std::memory_order_relaxed);
    return kNoCell;
  }
  std::atomic<uint32_t>& chunk = chunk_plus_one_[number / kCellsPerChunk];
  uint32_t have = chunk.load(std::memory_order_acquire);
  if (have == 0) {
    const uint32_t fresh = region_.Take(Table::kCellChunks);
    if (fresh >= kMaxCells / kCellsPerChunk) return kNoCell;
    // Who comes second leaves its chunk unused.
    if (chunk.compare_exchange_strong(have, fresh + 1, std::memory_order_acq_rel)) have = fresh + 1;
  }
  const uint32_t id = (have - 1) * kCellsPerChunk + number % kCellsPerChunk;
  cell(id).site_plus_one.store(site + 1, std::memory_order_release);
  index_.Insert(hash, id);
  return id;
}

}  // namespace memprof

#include "core/site_sums.h"

#include <atomic>
#include <cstdlib>

namespace memprof {
namespace {

constexpr int kCellTries = 100;

// What one cell said, as one state.
struct CellFigures {
  uint64_t epoch = 0, allocated_bytes = 0, allocated_count = 0, freed_bytes = 0, freed_count = 0;
  int64_t peak_bytes = 0, peak_count = 0;
};

CellFigures ReadCell(const Cell& cell) {
  CellFigures figures;
  for (int i = 0; i < kCellTries; ++i) {
    const uint32_t before = cell.sequence.load(std::memory_order_acquire);
    auto get = [](const auto& word) { return word.load(std::memory_order_acquire); };
    figures = {get(cell.epoch),       get(cell.allocated_bytes), get(cell.allocated_count),
               get(cell.freed_bytes), get(cell.freed_count),     get(cell.peak_bytes),
               get(cell.peak_count)};
    const uint32_t after = cell.sequence.load(std::memory_order_acquire);
    if (before == after && before % 2 == 0) break;
    // Odd for ever: its writer was killed inside an event, which is in flight.
  }
  return figures;
}

uint64_t Magnitude(uint64_t live) { return live >> 63 != 0 ? ~live + 1 : live; }

}  // namespace

SiteSums SumCells(const RegionView& region, const PeakState& state) {
  SiteSums sums;
  sums.sites.resize(region.count(Table::kSites));
  const CellChunk* chunks = region.Records<CellChunk>(Table::kCellChunks);
  for (uint32_t i = 0; i < region.count(Table::kCellChunks); ++i) {
    for (const Cell& cell : chunks[i].cells) {
      const uint32_t site = cell.site_plus_one.load(std::memory_order_acquire);
      // A site may be newer than our count of them.
      if (site > sums.sites.size()) sums.sites.resize(region.count(Table::kSites));
      if (site == 0 || site > sums.sites.size()) continue;
      const CellFigures figures = ReadCell(cell);
      const uint64_t live_bytes = figures.allocated_bytes - figures.freed_bytes;
      const uint64_t live_count = figures.allocated_count - figures.freed_count;
      const bool kept = !state.armed && figures.epoch == state.epoch;
      SiteFigures& sum = sums.sites[site - 1];
      sum.peak_bytes += kept ? static_cast<uint64_t>(figures.peak_bytes) : live_bytes;
      sum.peak_count += kept ? static_cast<uint64_t>(figures.peak_count) : live_count;
      sum.live_bytes += live_bytes;
      sum.live_count += live_count;
      sum.total_bytes += figures.allocated_bytes;
      sum.total_count += figures.allocated_count;
      sums.moved_bytes += figures.allocated_bytes + figures.freed_bytes;
      sums.moved_count += figures.allocated_count + figures.freed_count;
      if (figures.epoch > state.epoch) sums.later_bytes += Magnitude(live_bytes);
    }
  }
  return sums;
}

}  // namespace memprof

#include "core/region/site_sums.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace memprof {
namespace {

constexpr int kCellTries = 100;
// For all cells together. A thread is in at most one event, so no correct tracker needs more.
constexpr int kAllCellTries = kCellTries * 4096;

// A consistent copy of a cell.
struct CellFigures {
  uint64_t epoch = 0, allocated_bytes = 0, allocated_count = 0, freed_bytes = 0, freed_count = 0;
  int64_t peak_bytes = 0, peak_count = 0;
  uint64_t temporary_bytes = 0, temporary_count = 0;
  uint32_t sizes = 0;  // CellDetails::sizes
  SizeHistogram own_sizes;
};

SizeHistogram ReadSizes(const SizeCounts& counts) {
  SizeHistogram sizes;
  for (uint32_t k = 0; k < kSizeClasses; ++k) {
    AddSizes(sizes, k,
             {counts.classes[k].bytes.load(std::memory_order_acquire),
              counts.classes[k].count.load(std::memory_order_acquire)});
  }
  return sizes;
}

class CellReader {
 public:
  explicit CellReader(const RegionView& region)
      : details_(region.Records<CellDetails>(Table::kDetailChunks)),
        counts_(region.Records<SizeCounts>(Table::kSizeCounts)),
        named_(region.count(Table::kSizeCounts)) {}

  CellFigures Read(const Cell& cell, size_t index);

 private:
  const CellDetails* details_;
  const SizeCounts* counts_;
  std::vector<bool> named_;  // records of sizes that some cell has already claimed
  int tries_left_ = kAllCellTries;
};

CellFigures CellReader::Read(const Cell& cell, size_t index) {
  const CellDetails& details = details_[index];
  CellFigures figures;
  for (int i = 0; i < kCellTries; ++i) {
    const uint32_t before = cell.sequence.load(std::memory_order_acquire);
    auto get = [](const auto& word) { return word.load(std::memory_order_acquire); };
    figures = {get(cell.epoch),
               get(cell.allocated_bytes),
               get(cell.allocated_count),
               get(cell.freed_bytes),
               get(cell.freed_count),
               get(cell.peak_bytes),
               get(cell.peak_count),
               get(details.temporary_bytes),
               get(details.temporary_count),
               get(details.sizes),
               {}};
    const uint32_t record = figures.sizes & ~kOwnSizes;
    const bool own = figures.sizes != kSizesElsewhere && (figures.sizes & kOwnSizes) != 0;
    if (own && record < named_.size() && !named_[record]) {
      figures.own_sizes = ReadSizes(counts_[record]);
    }
    const uint32_t after = cell.sequence.load(std::memory_order_acquire);
    if (before == after && before % 2 == 0) break;
    // If it stays odd, the writer was killed inside an event, which is in flight.
    if (--tries_left_ <= 0) break;
  }
  if ((figures.sizes & kOwnSizes) == 0) {
    const Count all = {figures.allocated_bytes, figures.allocated_count};
    if (figures.sizes - 1 < kSizeClasses) AddSizes(figures.own_sizes, figures.sizes - 1, all);
  } else if (const uint32_t record = figures.sizes & ~kOwnSizes; record < named_.size()) {
    named_[record] = true;
  }
  return figures;
}

// Sizes that don't match the cell's figures (an event was in flight, or the cell's sizes are
// counted with others') are added to the program's, not to the site's.
void AddSizesOf(CellFigures& cell, SiteFigures& site, SizeHistogram& other) {
  const Count all = {cell.allocated_bytes, cell.allocated_count};
  if (SumSizes(cell.own_sizes) == all) {
    AddSizes(site.sizes, cell.own_sizes);
    return;
  }
  site.sizes_unknown = true;
  LimitSizes(cell.own_sizes, all);
  AddSizes(other, cell.own_sizes);
}

uint64_t Magnitude(uint64_t live) { return live >> 63 != 0 ? ~live + 1 : live; }

}  // namespace

SiteSums SumCells(const RegionView& region, const PeakState& state) {
  SiteSums sums;
  sums.sites.resize(region.count(Table::kSites));
  const CellChunk* chunks = region.Records<CellChunk>(Table::kCellChunks);
  CellReader reader(region);
  const auto add = [&](const CellChunk& chunk) {
    for (const Cell& cell : chunk.cells) {
      const uint32_t site = cell.site_plus_one.load(std::memory_order_acquire);
      // A site may be newer than our count of them. The count never falls, except in a hostile
      // region.
      if (site > sums.sites.size()) {
        sums.sites.resize(std::max<size_t>(sums.sites.size(), region.count(Table::kSites)));
      }
      if (site == 0 || site > sums.sites.size()) continue;
      const auto index = static_cast<size_t>(&cell - chunks[0].cells);
      CellFigures figures = reader.Read(cell, index);
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
      sum.temporary_bytes += figures.temporary_bytes;
      sum.temporary_count += figures.temporary_count;
      AddSizesOf(figures, sum, sums.other_sizes);
      sums.moved_bytes += figures.allocated_bytes + figures.freed_bytes;
      sums.moved_count += figures.allocated_count + figures.freed_count;
      if (IsEpochAfter(figures.epoch, state.epoch)) sums.later_bytes += Magnitude(live_bytes);
    }
  };
  region.VisitChunks([&](uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) add(chunks[i]);
  });
  AddSizes(sums.other_sizes, ReadSizes(region.header().other_sizes));
  return sums;
}

}  // namespace memprof

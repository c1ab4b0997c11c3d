#include "aggregator/tables/epoch_rows.h"

#include <atomic>
#include <cstring>

#include "aggregator/basics/private_memory.h"
#include "core/protocol/cell_chunks.h"

namespace memprof {
namespace {

constexpr uint32_t kFirstCapacity = 1024;
constexpr int kCellTries = 100;

struct CellFigures {
  uint64_t epoch;
  SiteRow live;
  SiteRow kept;
  SiteRow total;
  bool whole;  // read at one moment
};

CellFigures ReadCell(const Cell& cell) {
  CellFigures figures = {};
  for (int i = 0; i < kCellTries; ++i) {
    auto get = [](const auto& word) {
      return static_cast<int64_t>(word.load(std::memory_order_acquire));
    };
    const uint32_t before = cell.sequence.load(std::memory_order_acquire);
    figures.epoch = cell.epoch.load(std::memory_order_acquire);
    figures.total = {get(cell.allocated_bytes), get(cell.allocated_count)};
    figures.live = figures.total - SiteRow{get(cell.freed_bytes), get(cell.freed_count)};
    figures.kept = {get(cell.peak_bytes), get(cell.peak_count)};
    const uint32_t after = cell.sequence.load(std::memory_order_acquire);
    figures.whole = before == after && before % 2 == 0;
    if (figures.whole) break;
    __builtin_ia32_pause();
  }
  return figures;
}

uint64_t Magnitude(int64_t bytes) { return static_cast<uint64_t>(bytes < 0 ? -bytes : bytes); }

}  // namespace

bool RowArray::Grow(uint32_t sites) {
  if (sites <= used_) return true;
  if (sites > capacity_) {
    uint32_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_;
    while (capacity < sites) capacity *= 2;
    auto* rows = static_cast<SiteRow*>(MapMemory(uint64_t{capacity} * sizeof(SiteRow)));
    if (rows == nullptr) return false;
    // In an order that a signal handler may interrupt at any point: the old rows are freed last.
    SiteRow* const old = rows_;
    const uint32_t old_capacity = capacity_;
    if (old != nullptr) memcpy(rows, old, used_ * sizeof(SiteRow));
    rows_ = rows;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    capacity_ = capacity;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (old != nullptr) UnmapMemory(old, uint64_t{old_capacity} * sizeof(SiteRow));
  }
  used_ = sites;
  const uint32_t pages =
      static_cast<uint32_t>((used_ * sizeof(SiteRow) + kPageBytes - 1) / kPageBytes);
  if (pages > touched_pages_) {
    CountPrivateBytes(int64_t{pages - touched_pages_} * int64_t{kPageBytes});
    touched_pages_ = pages;
  }
  return true;
}

bool RowArray::CopyFrom(const RowArray& other) {
  Clear();
  if (!Grow(other.used_)) return false;
  if (other.used_ != 0) memcpy(rows_, other.rows_, other.used_ * sizeof(SiteRow));
  return true;
}

void RowArray::Clear() {
  if (used_ != 0) memset(static_cast<void*>(rows_), 0, used_ * sizeof(SiteRow));
  used_ = 0;
}

void RowArray::Destroy() {
  if (rows_ != nullptr) UnmapMemory(rows_, uint64_t{capacity_} * sizeof(SiteRow));
  *this = RowArray();
}

void EpochRows::Take(const Region& region, uint64_t epoch) {
  live.Clear();
  totals.Clear();
  live_sum = totals_sum = {};
  exact = true;
  raced_bytes = 0;
  // An event has its site before it enters the ordering word: further sites belong to later events.
  const uint32_t sites = region.count(Table::kSites);
  has_rows = live.Grow(sites) && totals.Grow(sites);
  const Cell* cells = region.cells();
  const auto add = [&](const Cell& cell) {
    const uint32_t site_plus_one = cell.site_plus_one.load(std::memory_order_acquire);
    if (site_plus_one == 0) return;
    const CellFigures figures = ReadCell(cell);
    const SiteRow row = IsEpochBefore(figures.epoch, epoch) ? figures.live : figures.kept;
    live_sum += row;
    totals_sum += figures.total;
    if (IsEpochAfter(figures.epoch, epoch) || !figures.whole) {
      exact = false;
      raced_bytes += Magnitude(figures.live.bytes) + Magnitude(row.bytes);
    }
    if (has_rows && site_plus_one <= sites) {
      live.At(site_plus_one - 1) += row;
      totals.At(site_plus_one - 1) += figures.total;
    }
  };
  VisitChunksInUse(region.count(Table::kCellChunks), region.capacity(Table::kCellChunks),
                   region.Records<std::atomic<uint64_t>>(Table::kSharedGroups),
                   region.capacity(Table::kSharedGroups), [&](uint32_t first, uint32_t chunks) {
                     const Cell* end = cells + uint64_t{first + chunks} * kCellsPerChunk;
                     for (const Cell* cell = cells + uint64_t{first} * kCellsPerChunk; cell != end;
                          ++cell) {
                       add(*cell);
                     }
                   });
}

}  // namespace memprof

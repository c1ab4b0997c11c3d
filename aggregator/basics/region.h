// Region: the tracker's side of the shared memory: typed access to the tables, and taking records.
//
// Thread safety: any thread; records are taken with one atomic add.
// Ownership: the mapping lives as long as the process. The places of the tables are kept here: a
// forked child's region is memory that others may write, and that disappears if its slot is freed.
// Failure: Take returns kNoRecord when a table is full; the count keeps growing and so shows how
// many records were missing.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

inline constexpr uint32_t kNoRecord = 0xffffffffu;

// The mapped memory that a region is in, and what came with it.
struct MappedRegion {
  void* base = nullptr;  // nullptr: there is no region
  uint64_t bytes = 0;
  void* children = nullptr;  // the children's area; nullptr: forked children aren't followed
  uint64_t children_bytes = 0;
  uint64_t image = 0;  // ImageId
  bool foreign_pids = false;
};

// Replaces the `bytes` of shared memory at `base` by a private copy: from now on only this process
// sees what it writes there. Nobody else may use the memory meanwhile. False: it is too large, or
// there is no memory; nothing is changed.
bool MakePrivateCopy(void* base, uint64_t bytes);

// Maps a region's file for the tracker, left out of core files; nullptr: that failed.
void* MapRegion(int fd, uint64_t bytes);

class Region {
 public:
  // `base` is mapped memory of `bytes`. False: it is no region that this tracker understands.
  bool Attach(void* base, uint64_t bytes);

  RegionHeader& header() const { return *header_; }
  bool attached() const { return header_ != nullptr; }
  uint64_t bytes() const { return bytes_; }

  template <typename Record>
  Record* Records(Table table) const {
    return reinterpret_cast<Record*>(base_ + info(table).offset);
  }
  // The cells and their details by the cell's id; cached, since every event needs them.
  Cell* cells() const { return cells_; }
  CellDetails* details() const { return details_; }
  SizeCounts* size_counts() const { return size_counts_; }
  PeakAccount* peak_accounts() const { return peak_accounts_; }
  uint32_t capacity(Table table) const { return info(table).capacity; }
  uint32_t count(Table table) const {
    const uint32_t n = header_->counts[static_cast<size_t>(table)].load(std::memory_order_acquire);
    return n < capacity(table) ? n : capacity(table);
  }

  // The index of `n` fresh, zeroed records, or kNoRecord.
  uint32_t Take(Table table, uint32_t n = 1) const {
    std::atomic<uint32_t>& count = header_->counts[static_cast<size_t>(table)];
    // Looking first keeps a full table's count from wrapping round.
    if (count.load(std::memory_order_relaxed) >= capacity(table)) return kNoRecord;
    const uint32_t index = count.fetch_add(n, std::memory_order_relaxed);
    return index <= capacity(table) - n && index < capacity(table) ? index : kNoRecord;
  }

 private:
  const TableInfo& info(Table table) const { return tables_[static_cast<size_t>(table)]; }

  unsigned char* base_ = nullptr;
  uint64_t bytes_ = 0;
  RegionHeader* header_ = nullptr;
  Cell* cells_ = nullptr;
  CellDetails* details_ = nullptr;
  SizeCounts* size_counts_ = nullptr;
  PeakAccount* peak_accounts_ = nullptr;
  TableInfo tables_[kTableCount] = {};  // the checked values
};

}  // namespace memprof

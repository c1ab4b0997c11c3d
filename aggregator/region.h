// Region: the tracker's side of the shared memory. Typed access to the tables and the taking of
// records.
//
// Thread safety: any thread; records are taken with one atomic add.
// Ownership: the mapping lives as long as the process. Where the tables lie is kept here: a forked
// child's region is memory that others may write, and that goes if its slot is freed.
// Failure: Take gives kNoRecord when a table is full; the count goes on and so says by how much.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

inline constexpr uint32_t kNoRecord = 0xffffffffu;

// Puts a private copy of the `bytes` of shared memory at `base` in their place: from now on this
// process alone sees what it writes there. Nobody else may use the memory meanwhile. False: it is
// too much, or there is no memory; nothing is changed.
bool MakePrivateCopy(void* base, uint64_t bytes);

// Maps a region's file as the tracker does, left out of core files; nullptr: it can't be.
void* MapRegion(int fd, uint64_t bytes);

class Region {
 public:
  // `base` is mapped memory of `bytes`. False: not a region that this tracker understands.
  bool Attach(void* base, uint64_t bytes);

  RegionHeader& header() const { return *header_; }
  bool attached() const { return header_ != nullptr; }
  uint64_t bytes() const { return bytes_; }

  template <typename Record>
  Record* Records(Table table) const {
    return reinterpret_cast<Record*>(base_ + info(table).offset);
  }
  // The cells and their details by the cell's id; kept at hand, since every event needs them.
  Cell* cells() const { return cells_; }
  CellDetails* details() const { return details_; }
  SizeCounts* size_counts() const { return size_counts_; }
  uint32_t capacity(Table table) const { return info(table).capacity; }
  uint32_t count(Table table) const {
    const uint32_t n = header_->counts[static_cast<size_t>(table)].load(std::memory_order_acquire);
    return n < capacity(table) ? n : capacity(table);
  }

  // The index of `n` fresh, zeroed records, or kNoRecord.
  uint32_t Take(Table table, uint32_t n = 1) const {
    std::atomic<uint32_t>& count = header_->counts[static_cast<size_t>(table)];
    // Looking first keeps a full table's count from running round.
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
  TableInfo tables_[kTableCount] = {};  // as they were checked
};

}  // namespace memprof

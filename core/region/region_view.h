// RegionView: a region's bytes, with every access checked against its bounds.
//
// A sealed memfd can't shrink: it is mapped and read in place. Anybody may truncate a file at any
// moment, and a mapping of it would then raise SIGBUS. So a file is copied with pread, as far as
// records are published; Refresh copies again. If the region's maker gave the layout
// (core/region/region_place.h), the region's own account of it is not read.
//
// Ownership: the view owns the mapping or the copy. The descriptor is the caller's and must outlive
// it.
// Thread safety: const after Open, except for Refresh.
// Memory: a copy has what is published, without the file's holes. kLimits in region_view.cc bounds
// each table, whatever the region says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/protocol/cell_chunks.h"
#include "core/protocol/region_layout.h"
#include "core/region/region_place.h"
#include "core/result.h"

namespace memprof {

class RegionView {
 public:
  // Failure: kUnreadable for a file that is no region, has another version, or is too small for its
  // layout.
  static Result<RegionView> Open(const RegionPlace& place);

  RegionView(RegionView&& other) noexcept
      : place_(std::move(other.place_)),
        base_(std::exchange(other.base_, nullptr)),
        bytes_(other.bytes_),
        resident_bytes_(other.resident_bytes_),
        copied_(other.copied_) {
    std::copy(std::begin(other.tables_), std::end(other.tables_), tables_);
    std::copy(std::begin(other.filled_), std::end(other.filled_), filled_);
  }
  RegionView& operator=(RegionView&&) = delete;
  ~RegionView();

  const RegionHeader& header() const { return *reinterpret_cast<const RegionHeader*>(base_); }
  uint64_t resident_bytes() const { return resident_bytes_; }

  // The published count, never above the capacity that Open checked. A copy's sites and nodes are
  // counted without those at the end that are all 0.
  uint32_t count(Table table) const {
    const auto index = static_cast<size_t>(table);
    return std::min(header().counts[index].load(std::memory_order_acquire), filled_[index]);
  }
  // The capacity that Open checked.
  uint32_t capacity(Table table) const { return tables_[static_cast<size_t>(table)].capacity; }
  template <typename Record>
  const Record* Records(Table table) const {
    return reinterpret_cast<const Record*>(base_ + tables_[static_cast<size_t>(table)].offset);
  }

  // Calls visit(first, chunks) for each run of kCellChunks that have figures.
  template <typename Visit>
  void VisitChunks(Visit visit) const {
    VisitChunksInUse(count(Table::kCellChunks), capacity(Table::kCellChunks),
                     Records<std::atomic<uint64_t>>(Table::kSharedGroups),
                     capacity(Table::kSharedGroups), visit);
  }

  // The ordering word as it is now, also for a copied region. Its peak is the newest segment's.
  Result<PeakState> ReadWord() const;

  // The rows of the highest segment that has ended, in kPeakRows; generation 0: none has ended. A
  // copy's rows are those of its last Refresh.
  struct KeptRows {
    uint32_t generation = 0;
    uint64_t peak = 0;
    uint64_t bound_bytes = 0;
    uint32_t first = 0;
    uint32_t sites = 0;
  };
  KeptRows ValidRows() const;
  // The generation as it is now. The rows don't change as long as it doesn't.
  Result<uint32_t> ReadKeptGeneration() const;

  // Copies the file again; does nothing for a region that is read in place. Copying a cell takes
  // time, so cells are copied until two copies agree on what the rows at `state` need. Returns
  // false if a cell kept changing. Failure: kUnreadable if the file was truncated.
  Result<bool> Refresh(const PeakState& state);

 private:
  RegionView(RegionPlace place, unsigned char* base, uint64_t bytes, uint64_t resident_bytes,
             bool copied)
      : place_(std::move(place)),
        base_(base),
        bytes_(bytes),
        resident_bytes_(resident_bytes),
        copied_(copied) {}
  // Takes the maker's layout, or the region's own if it fits the file.
  bool TakeLayout();
  bool CopyPublished(Table table);
  bool CopyChunks(Table table);
  std::optional<bool> CopyCellsAgain(const PeakState& state);
  bool CopyNamedMoments();

  RegionPlace place_;
  unsigned char* base_;
  uint64_t bytes_;
  uint64_t resident_bytes_;
  bool copied_;
  TableInfo tables_[kTableCount] = {};  // our copy: the region's own may change at any time
  uint32_t filled_[kTableCount] = {};   // records; the capacity where that isn't known
};

}  // namespace memprof

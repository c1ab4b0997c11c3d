// RegionView: a region's bytes with every access within bounds.
//
// A sealed memfd, which can't shrink, is mapped and read in place. A file, which somebody may cut
// at any moment (a SIGBUS for who mapped it), is copied with pread.
//
// Ownership: the mapping or the copy. Thread safety: const after Open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/region_layout.h"
#include "core/result.h"

namespace memprof {

class RegionView {
 public:
  // kUnreadable: no region, another version, or a layout that does not fit its file.
  static Result<RegionView> Open(int fd);

  RegionView(RegionView&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        bytes_(other.bytes_),
        resident_bytes_(other.resident_bytes_) {
    std::copy(std::begin(other.tables_), std::end(other.tables_), tables_);
  }
  RegionView& operator=(RegionView&&) = delete;
  ~RegionView();

  const RegionHeader& header() const { return *reinterpret_cast<const RegionHeader*>(base_); }
  uint64_t resident_bytes() const { return resident_bytes_; }

  // The published count, never above the capacity that Open checked.
  uint32_t count(Table table) const {
    const auto index = static_cast<size_t>(table);
    return std::min(header().counts[index].load(std::memory_order_acquire),
                    tables_[index].capacity);
  }
  template <typename Record>
  const Record* Records(Table table) const {
    return reinterpret_cast<const Record*>(base_ + tables_[static_cast<size_t>(table)].offset);
  }

  PeakState ReadPeak() const;

 private:
  RegionView(unsigned char* base, uint64_t bytes, uint64_t resident_bytes)
      : base_(base), bytes_(bytes), resident_bytes_(resident_bytes) {}
  bool CheckLayout();

  unsigned char* base_;
  uint64_t bytes_;
  uint64_t resident_bytes_;
  TableInfo tables_[kTableCount] = {};  // our copy: the region's own may change under us
};

}  // namespace memprof

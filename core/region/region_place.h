// RegionPlace: where a region lies: a file of its own, or a part of a file that many regions share
// (core/protocol/children_area.h). It carries the layout if the region's maker gave it, because the
// program can overwrite the region's own account of its layout.
//
// Ownership: the descriptor belongs to somebody else. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/protocol/region_layout.h"

namespace memprof {

struct RegionLayout {
  uint64_t bytes = 0;
  TableInfo tables[kTableCount] = {};
};

inline std::shared_ptr<const RegionLayout> LayoutFor(uint64_t budget_bytes) {
  RegionHeader header = {};
  RegionLayout layout;
  layout.bytes = LayOutRegion(header, budget_bytes);
  for (size_t i = 0; i < kTableCount; ++i) layout.tables[i] = header.tables[i];
  return std::make_shared<const RegionLayout>(layout);
}

struct RegionPlace {
  // NOLINTNEXTLINE: a descriptor alone is a file of its own
  RegionPlace(int file) : fd(file) {}
  RegionPlace(int file, uint64_t begin, uint64_t size,
              std::shared_ptr<const RegionLayout> known = nullptr)
      : fd(file), offset(begin), bytes(size), layout(std::move(known)) {}
  // The same place, reached by another descriptor.
  RegionPlace By(int file) const { return {file, offset, bytes, layout}; }

  int fd;
  uint64_t offset = 0;
  uint64_t bytes = 0;                          // 0: to the end of the file
  std::shared_ptr<const RegionLayout> layout;  // null: the region's own, checked
};

}  // namespace memprof

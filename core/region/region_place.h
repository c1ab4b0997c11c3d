// RegionPlace: where a region lies: a file of its own, or a part of a file that many regions share
// (core/protocol/children_area.h). It carries the layout if the region's maker gave it, because the
// program can overwrite the region's own account of its layout.
//
// Ownership: copies share the descriptor, so a thread or an object that has one can read the region
// for as long as it likes. A place made of a number alone borrows it. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/protocol/region_layout.h"
#include "core/scoped_fd.h"

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
  RegionPlace(int borrowed) : fd(borrowed) {}
  RegionPlace(std::shared_ptr<const ScopedFd> shared, uint64_t begin, uint64_t size,
              std::shared_ptr<const RegionLayout> known)
      : fd(shared->get()),
        offset(begin),
        bytes(size),
        layout(std::move(known)),
        file(std::move(shared)) {}

  int fd;
  uint64_t offset = 0;
  uint64_t bytes = 0;                          // 0: to the end of the file
  std::shared_ptr<const RegionLayout> layout;  // null: the region's own, checked
  std::shared_ptr<const ScopedFd> file;        // keeps fd open; null: borrowed
};

}  // namespace memprof

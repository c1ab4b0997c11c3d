// RangeMap: finds the mapping that an address belongs to: disjoint ranges by address, in
// kMappedRanges.
//
// A skip list: finding, entering and removing a range takes O(log n) steps, without recursion.
//
// Thread safety: one thread at a time (mapping_queue.h).
// Invariants
//   1. Ranges are not empty and don't overlap; level 0 has all of them by address.
//   2. A range is on levels 0 to height − 1, which have it in the same order.
// Memory: 80 bytes a range, reused when it is removed.
// Failure: Insert and Split return kNoRecord when the table is full; nothing is changed then.
#pragma once

#include <cstdint>

#include "aggregator/basics/region.h"

namespace memprof {

class RangeMap {
 public:
  constexpr explicit RangeMap(const Region& region) : region_(region) {}

  // The first range that ends above `address`, or kNoRecord.
  uint32_t FirstAbove(uint64_t address) const;
  uint32_t Next(uint32_t range) const { return Range(range).next[0] - 1; }

  uint32_t Insert(uint64_t start, uint64_t end, uint32_t mapping, uint64_t stamp);
  void Remove(uint32_t range);
  // Cuts a range in two; returns the upper one, which begins at `at`. Pre: `at` lies inside.
  uint32_t Split(uint32_t range, uint64_t at);

  // The region is another one, and has no ranges.
  void Restart() {
    for (uint32_t& first : first_) first = 0;
    free_plus_one_ = 0;
    free_ = 0;
  }

  // How many more ranges there is room for.
  uint32_t room() const {
    return region_.capacity(Table::kMappedRanges) - region_.count(Table::kMappedRanges) + free_;
  }

  MappedRange& Range(uint32_t range) const {
    return region_.Records<MappedRange>(Table::kMappedRanges)[range];
  }

 private:
  // The last links before `address`, by level.
  void FindLinks(uint64_t address, uint32_t* (&links)[kRangeLevels]);
  uint32_t TakeRecord();
  uint32_t RandomHeight();

  const Region& region_;
  uint32_t first_[kRangeLevels] = {};  // links as MappedRange.next
  uint32_t free_plus_one_ = 0;         // list of removed ranges, by next[0]
  uint32_t free_ = 0;                  // their number
  uint64_t random_ = 0x9e3779b97f4a7c15ull;
};

}  // namespace memprof

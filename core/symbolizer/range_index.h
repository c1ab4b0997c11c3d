// RangeIndex: finds the address ranges that contain an address. Ranges may overlap and nest:
// functions inside functions do, and code that the linker folded or dropped leaves such traces.
//
//   Add(), Add(), …, Sort(), then Covering().
//
// Thread safety: const after Sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memprof {

template <typename Value>
class RangeIndex {
 public:
  // [low, high); an empty range contains nothing.
  void Add(uint64_t low, uint64_t high, Value value) {
    if (low < high) ranges_.push_back({low, high, 0, value});
  }

  void Sort() {
    std::stable_sort(ranges_.begin(), ranges_.end(),
                     [](const Range& a, const Range& b) { return a.low < b.low; });
    uint64_t highest = 0;
    for (Range& range : ranges_) range.highest = highest = std::max(highest, range.high);
  }

  bool empty() const { return ranges_.empty(); }
  size_t size() const { return ranges_.size(); }

  // Calls visit(value) for every range that contains the address, until visit returns true; the
  // range that begins last comes first. Returns whether a visit returned true. Pre: Sort() since
  // the last Add().
  template <typename Visit>
  bool Covering(uint64_t address, Visit visit) const {
    auto range = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                  [](uint64_t a, const Range& r) { return a < r.low; });
    while (range != ranges_.begin() && (--range)->highest > address) {
      if (range->high > address && visit(range->value)) return true;
    }
    return false;
  }

 private:
  struct Range {
    uint64_t low, high;
    uint64_t highest;  // the largest `high` of this range and all before it: where to stop looking
    Value value;
  };
  std::vector<Range> ranges_;
};

}  // namespace memprof

// SizeHistogram: the number of blocks, and of bytes, in each size class (SizeClass: powers of two).
//
// It is sorted by class. No class is repeated, and none is without a figure. A site's histogram is
// either empty (not known) or sums to what the site allocated in all.
//
// Thread safety: plain values. Sums are modulo 2^64, as those of all figures.
#pragma once

#include <cstdint>
#include <vector>

#include "core/count.h"

namespace memprof {

struct SizeShare {
  uint32_t size_class = 0;
  Count count;
  friend bool operator==(const SizeShare&, const SizeShare&) = default;
};

using SizeHistogram = std::vector<SizeShare>;

// Adds to a class; an empty count adds nothing.
void AddSizes(SizeHistogram& histogram, uint32_t size_class, const Count& count);
void AddSizes(SizeHistogram& histogram, const SizeHistogram& more);

Count SumSizes(const SizeHistogram& histogram);

// The part of `total` that the histogram doesn't have; 0 if it has more.
Count Untold(const SizeHistogram& histogram, const Count& total);

// Reduces the classes, from the first on, so that they sum to no more than `total`.
void LimitSizes(SizeHistogram& histogram, const Count& total);

// The sizes of a class: class 0 is 0 to 0, class 3 is 4 to 7.
struct SizeRange {
  uint64_t min_bytes, max_bytes;
};
SizeRange RangeOfClass(uint32_t size_class);

}  // namespace memprof

// SizeHistogram: how many blocks, and bytes, of each class of sizes (SizeClass: powers of two).
//
// Sorted by class, each class once, none without a figure. A site's is either empty (not known)
// or its shares sum to what the site allocated in all.
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

// Nothing is added for a count of nothing.
void AddSizes(SizeHistogram& histogram, uint32_t size_class, const Count& count);
void AddSizes(SizeHistogram& histogram, const SizeHistogram& more);

Count SumSizes(const SizeHistogram& histogram);

// What of `total` the histogram does not tell; none where it tells more.
Count Untold(const SizeHistogram& histogram, const Count& total);

// Takes from the shares, from the first on, what would make them more than `total`.
void LimitSizes(SizeHistogram& histogram, const Count& total);

// The sizes of a class: class 0 is 0 to 0, class 3 is 4 to 7.
struct SizeRange {
  uint64_t min_bytes, max_bytes;
};
SizeRange RangeOfClass(uint32_t size_class);

}  // namespace memprof

#include "core/snapshot/size_histogram.h"

#include <algorithm>

#include "core/protocol/sample_weight.h"

namespace memprof {

void AddSizes(SizeHistogram& histogram, uint32_t size_class, const Count& count) {
  if (count == Count()) return;
  const auto at = std::lower_bound(
      histogram.begin(), histogram.end(), size_class,
      [](const SizeShare& share, uint32_t wanted) { return share.size_class < wanted; });
  if (at == histogram.end() || at->size_class != size_class) {
    histogram.insert(at, {size_class, count});
    return;
  }
  at->count += count;
  if (at->count == Count()) histogram.erase(at);  // it ran round
}

void AddSizes(SizeHistogram& histogram, const SizeHistogram& more) {
  for (const SizeShare& share : more) AddSizes(histogram, share.size_class, share.count);
}

Count SumSizes(const SizeHistogram& histogram) {
  Count sum;
  for (const SizeShare& share : histogram) sum += share.count;
  return sum;
}

Count Untold(const SizeHistogram& histogram, const Count& total) {
  const Count told = SumSizes(histogram);
  return {total.bytes > told.bytes ? total.bytes - told.bytes : 0,
          total.allocations > told.allocations ? total.allocations - told.allocations : 0};
}

void LimitSizes(SizeHistogram& histogram, const Count& total) {
  Count left = total;
  for (SizeShare& share : histogram) {
    share.count.bytes = std::min(share.count.bytes, left.bytes);
    share.count.allocations = std::min(share.count.allocations, left.allocations);
    left.bytes -= share.count.bytes;
    left.allocations -= share.count.allocations;
  }
  std::erase_if(histogram, [](const SizeShare& share) { return share.count == Count(); });
}

SizeRange RangeOfClass(uint32_t size_class) {
  if (size_class == 0) return {0, 0};
  const uint64_t from = SmallestOfClass(size_class);
  return {from, from + (from - 1)};
}

}  // namespace memprof

#include "aggregator/mappings/range_map.h"

namespace memprof {
namespace {

uint64_t Get(const std::atomic<uint64_t>& word) { return word.load(std::memory_order_relaxed); }
void Set(std::atomic<uint64_t>& word, uint64_t value) {
  word.store(value, std::memory_order_relaxed);
}

}  // namespace

uint32_t RangeMap::FirstAbove(uint64_t address) const {
  const uint32_t* next = first_;
  for (uint32_t level = kRangeLevels; level-- > 0;) {
    while (next[level] != 0 && Get(Range(next[level] - 1).end) <= address) {
      next = Range(next[level] - 1).next;
    }
  }
  return next[0] - 1;
}

void RangeMap::FindLinks(uint64_t address, uint32_t* (&links)[kRangeLevels]) {
  uint32_t* next = first_;
  for (uint32_t level = kRangeLevels; level-- > 0;) {
    while (next[level] != 0 && Get(Range(next[level] - 1).start) < address) {
      next = Range(next[level] - 1).next;
    }
    links[level] = &next[level];
  }
}

uint32_t RangeMap::TakeRecord() {
  if (free_plus_one_ == 0) return region_.Take(Table::kMappedRanges);
  const uint32_t range = free_plus_one_ - 1;
  free_plus_one_ = Range(range).next[0];
  --free_;
  return range;
}

// Each level has a quarter of the ranges of the one below.
uint32_t RangeMap::RandomHeight() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  uint32_t height = 1;
  for (uint64_t bits = random_; height < kRangeLevels && (bits & 3) == 0; bits >>= 2) ++height;
  return height;
}

uint32_t RangeMap::Insert(uint64_t start, uint64_t end, uint32_t mapping, uint64_t stamp) {
  const uint32_t range = TakeRecord();
  if (range == kNoRecord) return kNoRecord;
  MappedRange& record = Range(range);
  Set(record.start, start);
  Set(record.end, end);
  record.stamp = stamp;
  record.height = RandomHeight();
  uint32_t* links[kRangeLevels];
  FindLinks(start, links);
  for (uint32_t level = 0; level < record.height; ++level) {
    record.next[level] = *links[level];
    *links[level] = range + 1;
  }
  record.mapping_plus_one.store(mapping + 1, std::memory_order_release);
  return range;
}

void RangeMap::Remove(uint32_t range) {
  MappedRange& record = Range(range);
  record.mapping_plus_one.store(0, std::memory_order_relaxed);
  uint32_t* links[kRangeLevels];
  FindLinks(Get(record.start), links);
  for (uint32_t level = 0; level < record.height; ++level) *links[level] = record.next[level];
  record.next[0] = free_plus_one_;
  free_plus_one_ = range + 1;
  ++free_;
}

uint32_t RangeMap::Split(uint32_t range, uint64_t at) {
  MappedRange& record = Range(range);
  const uint32_t mapping = record.mapping_plus_one.load(std::memory_order_relaxed) - 1;
  const uint32_t upper = Insert(at, Get(record.end), mapping, record.stamp);
  if (upper != kNoRecord) Set(record.end, at);
  return upper;
}

}  // namespace memprof

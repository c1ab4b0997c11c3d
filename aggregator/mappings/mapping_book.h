// MappingBook: the program's own mappings, by range and by site, and their peak.
//
//   event ─► RangeMap (whose is it now?) ─► mapping ─► site: figures, peak
//
// An event is indivisible: the part that it takes away and the part that it maps never exist
// together. The memory that one call makes usable is one mapping, which counts as long as a byte of
// it is left.
//
// Thread safety: one thread at a time (mapping_queue.h); readers by MappingTotals.sequence.
// Invariants
//   1. The live bytes of the sites that aren't reserved sum to MappingTotals.mapped_bytes.
//   2. A mapping's site has the bytes of its ranges, and counts the mapping once.
// Failure: if a table is full the event is lost, and counted, or its file has no name.
#pragma once

#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/mappings/mapping_event.h"
#include "aggregator/mappings/range_map.h"

namespace memprof {

class MappingBook {
 public:
  constexpr explicit MappingBook(const Region& region) : region_(region), ranges_(region) {}

  void Book(const MappingEvent& event);

  // The memory that Book needs of its own, zeroed; without it every event is lost.
  static constexpr uint32_t kSiteSlots = 8192;  // for 3/4 as many sites
  static constexpr uint32_t kFileSlots = 2 * kMaxMappedFiles;
  static constexpr size_t kIndexBytes = (kSiteSlots + kFileSlots) * sizeof(uint32_t);
  void UseMemory(void* memory) { index_ = static_cast<uint32_t*>(memory); }

  // The region is another one, and empty: nothing is mapped, and there is no memory to use.
  void Restart() {
    ranges_.Restart();
    index_ = nullptr;
    free_mapping_plus_one_ = 0;
  }

 private:
  // Visits the ranges in [start, end) that are older than `stamp`.
  template <typename Visit>
  void ForEachOlder(uint64_t start, uint64_t end, uint64_t stamp, Visit visit);
  bool IsInsideOlder(uint64_t address, uint64_t stamp) const;
  void CutAt(uint64_t address, uint64_t stamp);
  bool Cut(uint64_t start, uint64_t end, uint64_t stamp, uint32_t more);
  uint64_t MappedIn(uint64_t start, uint64_t end, uint64_t stamp);
  bool HasNewer(uint64_t start, uint64_t end, uint64_t stamp) const;

  // False: there was no room.
  bool Unmap(const MappingEvent& event);
  bool Map(const MappingEvent& event);
  bool Protect(const MappingEvent& event);
  void Enter(uint64_t added, uint64_t removed);
  void Take(uint64_t start, uint64_t end, uint64_t stamp);

  uint32_t SiteOf(uint32_t site, uint32_t what);
  uint32_t FileOf(const MappingEvent& event);
  uint32_t NewMapping(uint32_t site);
  void Join(uint32_t mapping, uint64_t bytes);   // adds a range
  void Leave(uint32_t mapping, uint64_t bytes);  // removes a range
  MappingSiteRecord& Changing(uint32_t site);
  MappingWhat WhatOf(uint32_t range) const;

  MappingTotals& totals() const { return region_.header().mappings; }
  MappingRecord& Mapping(uint32_t mapping) const {
    return region_.Records<MappingRecord>(Table::kMappings)[mapping];
  }
  MappingSiteRecord& Site(uint32_t site) const {
    return region_.Records<MappingSiteRecord>(Table::kMappingSites)[site];
  }

  const Region& region_;
  RangeMap ranges_;
  uint32_t* index_ = nullptr;  // open addressing: sites by (site, what), files by name
  uint32_t free_mapping_plus_one_ = 0;
};

}  // namespace memprof

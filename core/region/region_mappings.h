// The region's figures of mappings, from outside the process that writes them; nothing in it is
// trusted.
//
// Thread safety: pure. Memory order: within one value of MappingTotals.sequence, which is tried up
// to 100 times; else events raced the read, and unattributed_bytes says by how much the peak's rows
// are off.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/region/region_view.h"
#include "core/snapshot/mappings.h"
#include "core/snapshot/memory_record.h"

namespace memprof {

// `place`: the node and thread name of a site of the region.
using PlaceOfSite = std::function<std::pair<uint32_t, uint32_t>(uint32_t site)>;
SnapshotMappings ReadMappings(const RegionView& region, const PlaceOfSite& place);

// What is mapped now, by address, none over another; neighbours may have been read at different
// instants.
struct LiveRange {
  uint64_t start, end;
  MappingWhat what;
};
std::vector<LiveRange> ReadRanges(const RegionView& region);

AllocatorSample ReadAllocator(const RegionView& region);

}  // namespace memprof

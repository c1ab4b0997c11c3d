// Reads the region's figures of mappings from outside the process that writes them. Nothing in the
// region is trusted.
//
// Thread safety: pure. Memory order: a read has to fall within one value of MappingTotals.sequence,
// and is tried up to 100 times. If every try raced events, unattributed_bytes says by how much the
// peak's rows are off.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/region/region_history.h"
#include "core/region/region_view.h"
#include "core/snapshot/mappings.h"
#include "core/snapshot/memory_record.h"

namespace memprof {

// The node and thread name of a site of the region.
using PlaceOfSite = std::function<std::pair<uint32_t, uint32_t>(uint32_t site)>;
// `histories` has one for each record of kMappingSites, or for fewer: the others have none.
SnapshotMappings ReadMappings(const RegionView& region, const PlaceOfSite& place,
                              std::vector<LiveHistory> histories = {});

// What each record of kMappingSites has mapped now; without those that have nothing. Events may
// race the read: each figure is then from some instant of it.
std::vector<SiteLive> ReadMapped(const RegionView& region);

// The ranges mapped now, by address, without overlaps. Neighbours may have been read at different
// instants.
struct LiveRange {
  uint64_t start, end;
  MappingWhat what;
};
std::vector<LiveRange> ReadRanges(const RegionView& region);

AllocatorSample ReadAllocator(const RegionView& region);

}  // namespace memprof

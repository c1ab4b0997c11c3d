// RegionSites: the sites of a region with their stacks, without figures, and which site a cell counts
// for. For readers that have figures of their own.
//
// Nothing in the region is trusted, as in region_reader.h.
//
// Thread safety: const after Read.
#pragma once

#include <cstdint>

#include "core/region/region_view.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

class RegionSites {
 public:
  // Failure: as ReadRegion.
  static Result<RegionSites> Read(const RegionPlace& place, const SnapshotProgram& program);

  // A snapshot of stacks: there is one site for each of the region's, by its index. All figures are 0.
  const Snapshot& snapshot() const { return snapshot_; }
  // The index of the site that a cell counts for; ~0: it counts for none. A site that came after Read
  // is none.
  uint32_t SiteOfCell(uint32_t cell) const;

  const RegionView& region() const { return region_; }

 private:
  RegionSites(RegionView region, Snapshot snapshot)
      : region_(std::move(region)), snapshot_(std::move(snapshot)) {}

  RegionView region_;
  Snapshot snapshot_;
};

}  // namespace memprof

// RegionHistory: what a supervisor saw of a region while its program ran. It uses the region's own
// site indices, which never change their meaning.
//
// Thread safety: plain values; ReadMoment as RegionView.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/count.h"
#include "core/region/region_place.h"
#include "core/result.h"
#include "core/snapshot/history.h"
#include "core/snapshot/inspection_record.h"
#include "core/snapshot/memory_record.h"
#include "core/snapshot/unseen.h"

namespace memprof {

struct SiteLive {
  uint32_t site = 0;
  Count live;
  friend bool operator==(const SiteLive&, const SiteLive&) = default;
};

struct RegionMoment {
  uint64_t time_ms = 0;
  bool inexact = false;
  // The live figures, by ascending site; never null. Shared by the copies for checkpoints, and by
  // moments between which nothing changed.
  std::shared_ptr<const std::vector<SiteLive>> sites;
  // Likewise what was mapped; `site` is an index in kMappingSites. Null: nothing.
  std::shared_ptr<const std::vector<SiteLive>> mappings = nullptr;
};

struct NamedRegionMoment {
  std::string name;  // IsMomentName; unique among the named moments
  RegionMoment moment;
  bool automatic = false;  // taken by a schedule: may be dropped for others
};

struct RegionHistory {
  Timeline timeline;
  uint64_t moments_interval_ms = 0;
  std::vector<RegionMoment> moments;
  std::vector<NamedRegionMoment> named;  // by time; at most kMaxNamedMoments
  uint64_t named_left_out = 0;           // NamedMoments::left_out
  MemoryRecord memory;
  SnapshotInspection inspection = {};  // its rows' nodes are those of RegionSites::snapshot
  std::vector<Unseen> unseen = {};     // reported by an observer outside the process
};

// Reads what is live now, `time_ms` after the start. The program goes on meanwhile: the moment is
// exact if nothing was allocated or freed while it was read. A second look is taken only if the
// ordering word shows a change. Cost: a look at each cell. Failure: kUnreadable, as ReadRegion.
Result<RegionMoment> ReadMoment(const RegionPlace& place, uint64_t time_ms);

// The moments transposed: the history of each of the region's first `sites` sites.
std::vector<LiveHistory> HistoriesBySite(const std::vector<RegionMoment>& moments, size_t sites);
// Likewise of its first `records` records in kMappingSites.
std::vector<LiveHistory> HistoriesByMapping(const std::vector<RegionMoment>& moments,
                                            size_t records);

}  // namespace memprof

// RegionHistory: what a supervisor saw of a region while its program ran, by the region's own site
// indices, which never change their meaning.
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
  // What was live, by ascending site; never null. Shared: by the copies
  // for checkpoints, and by moments between which nothing changed.
  std::shared_ptr<const std::vector<SiteLive>> sites;
};

struct NamedRegionMoment {
  std::string name;  // IsSnapshotName, no other's
  RegionMoment moment;
  bool automatic = false;  // of a schedule: may give way to others
};

struct RegionHistory {
  Timeline timeline;
  uint64_t moments_interval_ms = 0;
  std::vector<RegionMoment> moments;
  std::vector<NamedRegionMoment> named;  // by time; at most kMaxNamedSnapshots
  uint64_t named_left_out = 0;           // NamedSnapshots::left_out
  MemoryRecord memory;
  std::vector<Unseen> unseen = {};  // that somebody outside saw
};

// What is live now, `time_ms` after the start. The program goes on meanwhile: the moment is exact
// if nothing was allocated or freed while it was read, which takes a second look only where the
// ordering word says so first. Costs a look at each cell. kUnreadable as ReadRegion.
Result<RegionMoment> ReadMoment(const RegionPlace& place, uint64_t time_ms);

// The moments turned round: for each of the region's first `sites` sites its history.
std::vector<LiveHistory> HistoriesBySite(const std::vector<RegionMoment>& moments, size_t sites);

}  // namespace memprof

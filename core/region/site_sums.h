// SiteSums: the cells of a region summed by site, as they stand at a state of the ordering word.
//
// Thread safety: pure; the region's writers may go on meanwhile.
// Memory order: a cell's sequence is read before and after its figures, which are acquired; the
// writer's stores are releases (aggregator/tables/booking.h).
// Memory: bounded by the region's tables. A record of sizes belongs to one cell; a second cell that
// names it gets no sizes.
// Invariant: nothing in a cell can cause an overflow: sums are modulo 2^64, and read as signed at
// the end.
#pragma once

#include <cstdint>
#include <vector>

#include "core/region/region_view.h"
#include "core/snapshot/size_histogram.h"

namespace memprof {

// To be read as signed numbers: a block may be freed in another cell than it came from, and figures
// that were read while an event was under way may be below zero.
struct SiteFigures {
  uint64_t peak_bytes = 0, peak_count = 0, live_bytes = 0, live_count = 0, total_bytes = 0,
           total_count = 0, temporary_bytes = 0, temporary_count = 0;
  SizeHistogram sizes;         // of the cells whose sizes are known
  bool sizes_unknown = false;  // true if those of some cell are unknown
};

// A figure as it is shown: negative numbers become 0.
inline Count NotBelowZero(uint64_t bytes, uint64_t count) {
  return {bytes >> 63 != 0 ? 0 : bytes, count >> 63 != 0 ? 0 : count};
}

struct SiteSums {
  std::vector<SiteFigures> sites;  // by the site's index
  // The sum of all that events moved, allocated and freed. The difference of two sums is what
  // happened between them. A cell's counters never fall, so equal sums mean that no cell changed.
  uint64_t moved_bytes = 0;
  uint64_t moved_count = 0;
  // Live bytes of cells with events of a later epoch than the state's. Their figures at the state's
  // peak are lost.
  uint64_t later_bytes = 0;
  SizeHistogram other_sizes;  // of cells whose sites' sizes are unknown
};

SiteSums SumCells(const RegionView& region, const PeakState& state);

}  // namespace memprof

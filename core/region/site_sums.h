// SiteSums: the cells of a region summed by site, as they stand at a state of the ordering word.
//
// Thread safety: pure; the region's writers may go on meanwhile.
// Memory order: a cell's sequence is read before and after its figures, which are acquired; their
// stores are releases (aggregator/tables/booking.h).
// Memory: bounded by the region's tables: a record of sizes belongs to one cell, and a second one
// that names it has no sizes. Invariant: nothing a cell says can overflow: sums are modulo 2^64,
// read as signed at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "core/region/region_view.h"
#include "core/snapshot/size_histogram.h"

namespace memprof {

// As signed numbers: a block may be freed in another cell than it came from, and figures that were
// read while an event was under way may be below zero.
struct SiteFigures {
  uint64_t peak_bytes = 0, peak_count = 0, live_bytes = 0, live_count = 0, total_bytes = 0,
           total_count = 0, temporary_bytes = 0, temporary_count = 0;
  SizeHistogram sizes;         // of those cells that know theirs
  bool sizes_unknown = false;  // of some cell
};

// One of these figures as it is shown.
inline Count NotBelowZero(uint64_t bytes, uint64_t count) {
  return {bytes >> 63 != 0 ? 0 : bytes, count >> 63 != 0 ? 0 : count};
}

struct SiteSums {
  std::vector<SiteFigures> sites;  // by the site's index
  // What every event moved, allocated and freed: two sums differ by what went on between them.
  // Since no cell's counter falls, equal sums mean that every cell stood still.
  uint64_t moved_bytes = 0;
  uint64_t moved_count = 0;
  // Live bytes of cells that have events of a later epoch than the state's: what they had at the
  // state's peak is not known any more.
  uint64_t later_bytes = 0;
  SizeHistogram other_sizes;  // of cells whose sites' sizes are not known
};

SiteSums SumCells(const RegionView& region, const PeakState& state);

}  // namespace memprof

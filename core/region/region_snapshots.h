// RegionSnapshots: what the program itself kept under names (memprof_snapshot), as it lies in a
// region.
//
// Nothing of it is trusted: all records together have no more rows than the region has, and rows
// out of range, twice or in disorder are left out. A record that is being written, or whose writer
// died in it, is too.
//
// Thread safety: pure; the region's writer may go on meanwhile. Memory order: a record's sequence
// is acquired before and read after its rows (aggregator/tables/segments.h).
#pragma once

#include <vector>

#include "core/region/region_history.h"
#include "core/region/region_view.h"

namespace memprof {

// Those of the program and `seen`, what a supervisor took, by time: at most kMaxNamedSnapshots,
// each of a name of its own. Automatic ones go first, the oldest first. `left_out`: how many others
// there were.
std::vector<NamedRegionMoment> AllNamed(const RegionView& region,
                                        const std::vector<NamedRegionMoment>& seen,
                                        uint64_t& left_out);

}  // namespace memprof

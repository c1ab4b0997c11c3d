// Reads the named moments that the program took (memprof_snapshot) from a region.
//
// Nothing in the region is trusted: all records together have no more rows than the region has.
// Rows out of range, repeated or in disorder are left out. A record that is being written is left
// out too, as is one whose writer died while writing.
//
// Thread safety: pure; the region's writer may go on meanwhile. Memory order: a record's sequence
// is acquired before its rows and read again after them (aggregator/tables/segments.h).
#pragma once

#include <string>
#include <vector>

#include "core/region/region_history.h"
#include "core/region/region_view.h"

namespace memprof {

// Merges the program's named moments with `seen`, those that a supervisor took, by time: at most
// kMaxNamedMoments, with unique names. Automatic ones are dropped first, the oldest first.
// `left_out` gets the number of dropped ones.
std::vector<NamedRegionMoment> AllNamed(const RegionView& region,
                                        const std::vector<NamedRegionMoment>& seen,
                                        uint64_t& left_out);

// The names of those that the program took until now, as it gave them. Empty for what is no region.
std::vector<std::string> NamesOfProgram(const RegionPlace& place);

}  // namespace memprof

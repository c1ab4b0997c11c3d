// RegionReader: from a region to a Snapshot, from outside the process that writes it.
//
// The region is memory that another process writes: nothing in it is trusted. Counts are clamped to
// what the file has, indices are checked, a parent is always an older node. A stack that goes
// nowhere ends in the row [incomplete], a site without a stack is in [no stack].
//
// While the process runs, a read is no instant. The rows at the peak are exact if the ordering
// word's peak, epoch and armed are the same before and after the cells were read, which is tried 5
// times; else the snapshot is `inexact_read`, and its bound has what may have moved meanwhile. Live
// figures are each cell's own at some moment of the read. If the process is dead, all is of one
// moment, but for the events that were in flight.
//
// Thread safety: pure but for the descriptor's file. Memory: what the region's tables hold.
// Failure: kUnreadable for what is no region of this version.
// Memory order: counts are acquired before the records they publish; cells:
// core/region/site_sums.h.
#pragma once

#include <cstdint>

#include "core/protocol/region_layout.h"
#include "core/region/region_history.h"
#include "core/region/region_place.h"
#include "core/result.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

// `program` is what the caller knows of the program, `history` what it saw of it before.
Result<Snapshot> ReadRegion(const RegionPlace& place, const SnapshotProgram& program,
                            const RegionHistory& history = {});

// The ordering word alone, with the run's peak: cheap enough for every tick.
Result<PeakState> ReadPeak(const RegionPlace& place);

// Whether the file begins like a region.
bool IsRegion(int fd);

}  // namespace memprof

// RegionReader: from a region to a Snapshot, from outside the process that writes it.
//
// The region is memory that another process writes: nothing in it is trusted. Counts are clamped to
// what the file has, indices are checked, a parent is always an older node.
//
// While the process runs, a read is no instant: the ordering word is read before and after the
// cells, up to 5 times, until it has not moved; else the snapshot is `inexact_read`, with its
// bound. When the process is dead the word and the cells differ by at most the events that were
// in flight.
//
// Thread safety: pure but for the descriptor's file. Memory: what the region's tables hold.
// Failure: kUnreadable for what is no region of this version.
// Memory order: counts are acquired before the records they publish; a cell's sequence before and
// after its figures (aggregator/booking.h).
#pragma once

#include <cstdint>

#include "core/region_layout.h"
#include "core/result.h"
#include "core/snapshot.h"

namespace memprof {

// `program` is what the caller knows of the program; its end_kind says whether it still runs.
Result<Snapshot> ReadRegion(int fd, const SnapshotProgram& program);

// The ordering word alone: cheap enough for every tick.
Result<PeakState> ReadPeak(int fd);

// Whether the file begins like a region.
bool IsRegion(int fd);

}  // namespace memprof

// RegionReader: makes a snapshot of a region, from outside the process that writes it.
//
// Another process writes the region, so nothing in it is trusted. Counts are clamped to the file's
// size, indices are checked, and a parent must be an older node. A stack with a broken chain ends
// in the row [incomplete]; a site without a stack is in [no stack].
//
// A read of a running process takes time. The rows at the peak are exact if the ordering word's
// peak, epoch and armed are the same before and after the cells were read; this is tried 5 times.
// If it never succeeds, the snapshot is `inexact_read`, and its bound covers what may have moved
// meanwhile. Live figures are each cell's own at some moment of the read. If the process is dead,
// all figures are of one moment, except for events that were in flight.
//
// Thread safety: pure but for the descriptor's file. Memory: what the region's tables hold.
// Failure: kUnreadable for anything but a region of this version.
// Memory order: counts are acquired before the records they publish; cells:
// core/region/site_sums.h.
#pragma once

#include <cstdint>

#include "core/protocol/region_layout.h"
#include "core/region/region_history.h"
#include "core/region/region_place.h"
#include "core/result.h"
#include "core/snapshot/canonical_snapshot.h"

namespace memprof {

// `program` is what the caller knows of the program; `history` is what it saw earlier.
Result<CanonicalSnapshot> ReadRegion(const RegionPlace& place, const SnapshotProgram& program,
                                     const RegionHistory& history = {});

// Reads only the ordering word, with the run's peak: cheap enough for every tick.
Result<PeakState> ReadPeak(const RegionPlace& place);

// A word of the header, by its offset, likewise; 0 where it can't be read.
uint32_t ReadHeaderWord(const RegionPlace& place, size_t offset);

// True if the file begins like a region.
bool IsRegion(int fd);

}  // namespace memprof

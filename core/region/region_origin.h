// What a region says of its process that no supervisor watched (core/protocol/unsupervised.h).
//
// Thread safety: pure but for the view's file. Nothing in it is trusted: texts are within bounds,
// and of a bounded length.
#pragma once

#include <string>

#include "core/region/region_view.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

// Why nothing is counted in it, as the end of a sentence; empty: something is, or may be.
std::string TroubleOf(const RegionView& region);

// Completes `program` by what the region knows; of a supervisor's region, nothing. Its end_kind is
// what the caller knows: kRunning, or kEnded, which becomes kExit where the region has the status.
void TellOrigin(const RegionView& region, SnapshotProgram& program);

}  // namespace memprof

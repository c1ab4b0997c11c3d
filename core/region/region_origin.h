// Reads what a region says about its process if no supervisor watched it
// (core/protocol/unsupervised.h).
//
// Thread safety: pure but for the view's file. Nothing in the region is trusted: texts are checked
// to be within bounds, and their length is limited.
#pragma once

#include <string>

#include "core/region/region_view.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

// Why the region counts nothing, as the end of a sentence; empty: it counts, or may.
std::string TroubleOf(const RegionView& region);

// Completes `program` by what the region knows. A supervisor's region adds nothing. The caller sets
// end_kind to kRunning or kEnded; kEnded becomes kExit if the region has the exit status.
void TellOrigin(const RegionView& region, SnapshotProgram& program);

}  // namespace memprof

// The parts that depend on how the tracker's library was loaded: preloaded (preloaded.cc) or
// attached (attach/attached.cc). Each of the two files defines these functions; the linker chooses
// between them, so that there are two libraries of the same tracker.
//
// Thread safety: any thread.
#pragma once

#include "aggregator/basics/region.h"

namespace memprof {

// The region for this process: the supervisor's, or one that the environment asks for. Called once,
// by one thread. Null: there is none.
MappedRegion GetRegion();

// Called when all is ready to count. False: don't.
bool BeforeCounting();

// The process exits, and counts.
void NoteExit();

}  // namespace memprof

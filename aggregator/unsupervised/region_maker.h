// RegionMaker: the region of a process without a supervisor. The tracker makes it itself, as a file
// (core/protocol/unsupervised.h has the variables that ask for it).
//
//   no supervisor is named       ──► MakeRegion          the file that MEMPROF_OUTPUT names
//   a forked child allocates     ──► …OfChild            another file, with the child's pid
//   an executed program starts anew, in an environment with the same variables
//
// The file (region_allocation.h has its content) has mode 0600, is never an existing one, and no
// link is followed to it. If nothing can be counted the file says why, provided that it can be
// made. The program's own output is never touched.
//
// Thread safety: each by one thread at a time, as StartTracker calls them. Descriptors: none stays
// open. errno is not preserved.
// Failure: a null region; the program runs untracked.
#pragma once

#include "aggregator/basics/region.h"
#include "core/protocol/region_layout.h"

namespace memprof {

MappedRegion MakeRegion();

// True if forked children get a region from here.
bool MakesRegionsOfChildren();
// For this process, which was forked by the one that counted in `parent`.
MappedRegion MakeRegionOfChild(const Region& parent);
// The child counts in `region` now: writes that it runs the same program as its parent.
void DescribeChild(const Region& parent, const Region& region);

// Writes the facts about the program. Called by the constructor, which gets the arguments. Does
// nothing in a region of a supervisor.
void DescribeProgram(const Region& region, int argc, char** argv);

}  // namespace memprof

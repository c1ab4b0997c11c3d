// RegionMaker: the region of a process without a supervisor, which the tracker makes itself, as a
// file (core/protocol/unsupervised.h has what asks for it).
//
//   nobody named a supervisor ──► MakeRegion          the file MEMPROF_OUTPUT names
//   a child was forked, and allocates ──► …OfChild    another file, with the child's pid
//   what is executed starts anew, in an environment that still says so
//
// The file (region_allocation.h has what is in it) has mode 0600, is never one that was there
// before, and no link is followed to it. If nothing can be counted the file says why, where it can
// be made at all: the program's own output is never touched.
//
// Thread safety: each by one thread at a time, as StartTracker calls them. Descriptors: none stays
// open. errno is not kept. Failure: a null region; the program runs untracked.
#pragma once

#include "aggregator/handshake_client.h"
#include "core/protocol/region_layout.h"

namespace memprof {

class Region;

MappedRegion MakeRegion();

// Whether forked children get a region from here.
bool MakesRegionsOfChildren();
// For this process, which was forked by the one that counted in `parent`.
MappedRegion MakeRegionOfChild(const Region& parent);
// The child counts in `region` now: it runs what its parent did.
void DescribeChild(const Region& parent, const Region& region);

// What runs: by the constructor, which is told. Does nothing in a region of a supervisor.
void DescribeProgram(const Region& region, int argc, char** argv);

// The value of a variable, without trusting that libc is initialised; nullptr: it isn't there.
const char* EnvironmentValue(const char* name);

}  // namespace memprof

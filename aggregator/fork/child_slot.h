// ChildSlots: gives a forked child its region without asking another process
// (core/protocol/children_area.h).
//
// Thread safety: Map before there is a second thread; the others in a forked child, by one thread.
// System calls: only mprotect, which every allocator makes itself, and getpid unless calls are
// filtered.
// Failure: no region. The child isn't counted, nor are its own children, and `refused` counts them.
#pragma once

#include <cstdint>

#include "aggregator/basics/region.h"
#include "core/protocol/children_area.h"

namespace memprof {

// From now on this process's forked children may claim a region in the area that is mapped here.
void UseChildrenArea(const MappedRegion& mapped);

// True if forked children are counted.
bool FollowsChildren();

// From now on the claims of this process and of its descendants say that the supervisor may know
// the process by another pid.
void DoubtPids();

// True if the region inherited by fork still belongs to the parent, and hasn't been given to
// another process. Pre: this child has claimed no slot.
bool HasParentsRegion();

// Claims a child's region for this process. Returns the region, with these options and without a
// tracker; null: there is none. Pre: this process was forked by the one whose region is known here.
MappedRegion ClaimChildSlot(const TrackerOptions& options);

// Gives up the claim: the region can't be used after all.
void GiveUpChildSlot();

// Adds `by` to the number of children that run uncounted.
void CountUnfollowed(int32_t by);

}  // namespace memprof

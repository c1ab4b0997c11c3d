// ChildSlots: where a forked child gets its region from, without asking anybody
// (core/protocol/children_area.h).
//
// Thread safety: Map before there is a second thread; the others in a forked child, by one thread.
// System calls: mprotect alone, which every allocator makes itself; getpid unless calls are
// filtered.
// Failure: no region; the child isn't counted, its own children neither, and `refused` says how
// many.
#pragma once

#include <cstdint>

#include "aggregator/handshake_client.h"
#include "core/protocol/children_area.h"

namespace memprof {

// This process' forked children may take a slot of the area that is mapped here.
void UseChildrenArea(const MappedRegion& mapped);

// Whether forked children are to count.
bool FollowsChildren();

// From here on, in all descendants: the supervisor may know the process by another pid than its
// own.
void DoubtPids();

// By a child that has claimed nothing yet: whether its parent's region is still the parent's. What
// a slot had goes when the process has ended, and the slot to somebody else.
bool HasParentsRegion();

// A slot of its own for this process, which was forked by the one whose slot or region we knew: a
// region with these options, without a tracker. Null: there is none.
MappedRegion ClaimChildSlot(const TrackerOptions& options);

// The claimed slot can't be used after all.
void GiveUpChildSlot();

// Counts `by` more children that are known not to be counted.
void CountUnfollowed(int32_t by);

}  // namespace memprof

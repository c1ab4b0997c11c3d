// ChildSlots: where a forked child gets its region from, without asking anybody
// (core/children_area.h).
//
// Thread safety: Map before there is a second thread; the others in a forked child, by one thread.
// System calls: mprotect alone, which every allocator makes itself; getpid unless calls are
// filtered.
// Failure: no region; the child isn't counted, and `refused` says how many.
#pragma once

#include <cstdint>

#include "aggregator/handshake_client.h"
#include "core/children_area.h"

namespace memprof {

// This process' forked children may take a slot of the area that is mapped here.
void UseChildrenArea(const MappedRegion& mapped);

// Whether forked children are to count.
bool FollowsChildren();

// A slot of its own for this process, which was forked by the one whose slot or region we knew: a
// region with these options, without a tracker. Null: there is none.
MappedRegion ClaimChildSlot(const TrackerOptions& options);

// The claimed slot can't be used after all.
void GiveUpChildSlot();

}  // namespace memprof

// The life of the tracker in its process: start at the first event, end with the process.
//
//   kNotStarted ─► kStarting ─► kStarted          counting != 0
//                     └───────► kOff              no supervisor, refused, or trouble
//   in a forked child, whose page was wiped:
//   kStarted ─► kStartingInChild ─► kStarted      it counts into a region of its own
//                     └───────────► kOff          it isn't followed (fork/forked_child.h)
//
// Thread safety: StartTracker (tracker.h) may be called by any thread; one of them starts. The
// others go on untracked meanwhile; in a forked child they wait for it, for so many looks at most,
// and what they go on without is counted as dropped.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/handshake_client.h"
#include "core/protocol/region_layout.h"

namespace memprof {

// tracker.cc: attaches the tables to the region. False: the header says why.
bool StartCounting(const MappedRegion& mapped);
RegionHeader& CurrentRegion();

// For a tracker that may start more than once (attach/). Pre: one thread calls these.
//
// Starts it, whatever became of the last time. False: it is starting or counting, or can't.
bool StartAgain();
// Stops counting for good: events that are under way are still booked, or not.
void StopTracker();
// Where the region is; null: nowhere.
const MappedRegion& RegionMapping();

}  // namespace memprof

// The life of the tracker in its process: start at the first event, end with the process.
//
//   kNotStarted ─► kStarting ─► kStarted          counting != 0
//                     └───────► kOff              no supervisor, refused, or trouble
//   in a forked child: kStarted ─► kOff           its page was wiped: it isn't counted
//
// Thread safety: StartTracker (tracker.h) may be called by any thread; one of them starts, the
// others go on untracked meanwhile.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/handshake_client.h"
#include "core/region_layout.h"

namespace memprof {

// tracker.cc: attaches the tables to the region. False: the header says why.
bool StartCounting(const MappedRegion& mapped);
RegionHeader& CurrentRegion();

}  // namespace memprof

// Shared cells: cells that many threads write, with atomic adds. For what has no cell of its
// thread's own: a signal handler that allocates while its thread is inside the tracker, threads
// above kMaxSlots, and threads whose slots find no more room in the region.
//
// Each site has one, which is kept for it as the site is made: what was booked at a site can always
// be taken back there, or a free that finds no room would leave a leak behind that is none. Keeping
// takes nothing but the word of how many chunks are kept (RegionHeader.chunk_use): the chunk is a
// hole until it is used.
//
// Thread safety: any thread, also a signal handler; lock-free. Totals and live figures are exact;
// rows at the peak may be off by what went through here (RegionHeader.shared_bytes says how much).
#pragma once

#include <cstdint>

#include "aggregator/region.h"

namespace memprof {

// A chunk of cells for a thread's slot. kNoRecord: what is left is kept for shared cells.
uint32_t TakeOwnChunk(const Region& region);

// Keeps room for the shared cell of a site that was just taken. False: there is none.
bool KeepSharedCell(const Region& region, uint32_t site);

// The site's cell. Pre: KeepSharedCell was true. If there is no such site, it is that of site 0.
uint32_t SharedCell(const Region& region, uint32_t site);

}  // namespace memprof

// Shared cells: cells that many threads write, with atomic adds. They are for events without a cell
// of the thread's own: those of a signal handler that allocates while its thread is inside the
// tracker, of threads above kMaxSlots, and of threads whose slots find no more room in the region.
//
// Each site has a shared cell, which is reserved when the site is made. What was booked at a site
// can therefore always be taken back there; a free without room would leave a false leak. Reserving
// changes only the number of reserved chunks (RegionHeader.chunk_use): the chunk is a hole until it
// is used.
//
// Thread safety: any thread, also a signal handler; lock-free. Totals and live figures are exact;
// rows at the peak may be off by what was booked here (RegionHeader.shared_bytes says how much).
#pragma once

#include <cstdint>

#include "aggregator/basics/region.h"

namespace memprof {

// Takes a chunk of cells for a thread's slot. kNoRecord: the rest is reserved for shared cells.
uint32_t TakeOwnChunk(const Region& region);

// Reserves the shared cell of a site that was just taken. False: there is no room.
bool KeepSharedCell(const Region& region, uint32_t site);

// The site's cell. Pre: KeepSharedCell returned true. If there is no such site, it is the cell of
// site 0.
uint32_t SharedCell(const Region& region, uint32_t site);

}  // namespace memprof

// The sites whose blocks all come from threads that were alive when the program ended.
//
//   slot 0  owner 4711 (the process's pid)      the main thread: no such thread
//   slot 1  owner 4712, taken once              alive at the end: chunks 3 and 9 are its own
//   slot 2  owner 0, taken twice                its threads have ended
//   slot 3  owner 4714, taken twice             alive, but an earlier thread counted there, too
//
// A site is such a one if every cell in which something was allocated at it, shared cells included,
// is in a chunk of a slot like slot 1. Then it doesn't matter who freed blocks of the site: those
// that are left were all allocated by such threads.
//
// Invariant: nothing is concluded from what isn't known. Without the process's pid, with an unknown
// owner, or for a chunk without an owner there is no such site.
//
// Thread safety: pure. Memory: two bits a site.
// Memory order: SlotRecord (core/protocol/region_layout.h).
#pragma once

#include <cstddef>
#include <vector>

#include "core/region/region_view.h"

namespace memprof {

// One flag for each of the first `sites` sites. Pre: the program has ended.
std::vector<bool> SitesOfRunningThreads(const RegionView& region, size_t sites);

}  // namespace memprof

// StartCounting: the tables of this process begin to work on its region.
//
// Thread safety: one thread, once for each region.
#pragma once

#include "aggregator/basics/region.h"

namespace memprof {

// False: the tracker doesn't count. If `mapped` is a region, its header says why.
bool StartCounting(const MappedRegion& mapped);

}  // namespace memprof

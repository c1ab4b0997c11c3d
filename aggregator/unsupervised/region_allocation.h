// RegionAllocation: what RegionMaker writes to a new file: a region, or why there is none.
//
// A region's file is allocated in full, or a full disk would be a SIGBUS of the program, and takes
// at most a quarter of what is free there. Where a limit of the process, the disk or memory leave
// less than the budget, it is halved until it fits.
//
// Thread safety: none, but each call has its own file. errno is not kept.
#pragma once

#include <cstdint>

#include "core/protocol/region_layout.h"
#include "core/protocol/unsupervised.h"

namespace memprof {

// Bytes of address space and of the disk; the small one for a forked child, and where files are
// memory.
inline constexpr uint64_t kRegionBudget = 64ull << 20;
inline constexpr uint64_t kSmallRegionBudget = 16ull << 20;

// Lays out the largest region that there is room for, and its header in `header`, which is the
// caller's memory. Its bytes; 0: there is none, and `why`.
uint64_t AllocateRegion(int fd, uint64_t budget, const TrackerOptions& tracker,
                        RegionHeader& header, const char** why);

// The file holds a region in which nothing was counted, and why: `subject`, the word, `why`. It
// takes two pages on the disk. `header` as above. False: it can't be written.
bool LeaveTrouble(int fd, const char* subject, const OptionsTrouble& trouble, RegionHeader& header);

}  // namespace memprof

// RegionAllocation: writes a region to a new file, or the reason why there is none.
//
// A region's file is allocated in full, since a full disk would be a SIGBUS in the program. It
// takes at most a quarter of the free space. If a limit of the process, the disk or memory leave
// less than the budget, the budget is halved until it fits.
//
// Thread safety: none, but each call has its own file. errno is not preserved.
#pragma once

#include <cstdint>

#include "core/protocol/region_layout.h"
#include "core/protocol/unsupervised.h"

namespace memprof {

// Bytes of address space and of the disk. The small one is for a forked child, and for files that
// are memory (tmpfs).
inline constexpr uint64_t kRegionBudget = 64ull << 20;
inline constexpr uint64_t kSmallRegionBudget = 16ull << 20;

// Lays out the largest region that there is room for, with its header in `header`, which is the
// caller's memory. Returns its bytes; 0: there is none, and `why` has the reason.
uint64_t AllocateRegion(int fd, uint64_t budget, const TrackerOptions& tracker,
                        RegionHeader& header, const char** why);

// Writes a region in which nothing was counted, and the reason: `subject`, the word, `why`. It
// takes two pages on the disk. `header` as above. False: it can't be written.
bool LeaveTrouble(int fd, const char* subject, const OptionsTrouble& trouble, RegionHeader& header);

}  // namespace memprof

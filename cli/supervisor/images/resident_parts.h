// ResidentParts: divides a process's resident pages into parts, using the kernel's list of mappings
// (/proc/PID/smaps) and the region's list of the program's own mappings. If a mapping in the
// kernel's list is only partly the program's, its pages are looked up (/proc/PID/pagemap).
//
// Stacks are guessed: an anonymous mapping directly behind a small one without any access (a guard)
// is taken for a thread's stack, as long as the limit on stacks says.
//
// Thread safety: pure but for the descriptors' files. Failure: no result if the process is gone, or
// may not be looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/region/region_mappings.h"
#include "core/snapshot/memory_record.h"

namespace memprof {

// One of the kernel's mappings.
struct KernelMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t resident_bytes = 0;
  std::string permissions;
  std::string name;  // path, "[heap]", …; empty: anonymous
};
std::vector<KernelMapping> ParseSmaps(std::string_view text);

// Returns the number of resident bytes in [start, end).
using ResidentBytesIn = uint64_t (*)(int pagemap_fd, uint64_t start, uint64_t end);
uint64_t ResidentByPagemap(int pagemap_fd, uint64_t start, uint64_t end);

struct TrackerMemory {
  uint64_t private_bytes = 0;  // according to the tracker: its library, and anonymous memory
  std::string region;          // the region's name in the kernel's list
};

// Doesn't touch time, live bytes and the allocator's figures. `ranges` are ordered by address,
// without overlaps.
MemorySample ResidentParts(const std::vector<KernelMapping>& kernel,
                           const std::vector<LiveRange>& ranges, const TrackerMemory& tracker,
                           uint64_t stack_limit, int pagemap_fd,
                           ResidentBytesIn resident_in = ResidentByPagemap);

}  // namespace memprof

// ResidentParts: which part of a process each resident page is in, by the kernel's list of its
// mappings (/proc/PID/smaps) and the region's of what the program mapped itself. Where one of the
// kernel's mappings is partly the program's, its pages are looked at (/proc/PID/pagemap).
//
// What can't be told is assumed: an anonymous mapping right behind a small one without any access
// (a guard) is a thread's stack, of as many bytes as the limit of stacks says.
//
// Thread safety: pure but for the descriptors' files. Failure: none where the process is gone, or
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

// How many bytes of [start, end) are resident.
using ResidentBytesIn = uint64_t (*)(int pagemap_fd, uint64_t start, uint64_t end);
uint64_t ResidentByPagemap(int pagemap_fd, uint64_t start, uint64_t end);

struct TrackerMemory {
  uint64_t private_bytes = 0;  // as the tracker says: its library, and anonymous memory
  std::string region;          // the region's name in the kernel's list
};

// Leaves time, live bytes and allocator as they are. `ranges` by address, none over another.
MemorySample ResidentParts(const std::vector<KernelMapping>& kernel,
                           const std::vector<LiveRange>& ranges, const TrackerMemory& tracker,
                           uint64_t stack_limit, int pagemap_fd,
                           ResidentBytesIn resident_in = ResidentByPagemap);

}  // namespace memprof

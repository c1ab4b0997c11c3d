#include "aggregator/statistics/glibc_walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "aggregator/events/tables.h"
#include "aggregator/fork/forked_child.h"
#include "aggregator/hooks/errno_guard.h"
#include "aggregator/monotonic_clock.h"
#include "aggregator/system_calls.h"
#include "aggregator/tables/peak_tracker.h"

namespace memprof {
namespace {

// Chunks that were freed long ago are in no cache: measured as 80 to 150 ns each.
constexpr uint64_t kNsAChunk = 128;
constexpr uint64_t kBytesAChunk = 64;
// Free chunks a block where none was freed, of kWhole.
constexpr uint64_t kWhole = 1024, kBetweenBlocks = 64;
constexpr uint64_t kLongestNs = 20'000'000;  // but at the end
constexpr uint64_t kAnyTimeNs = 1'000'000;   // a process that has just begun may take that
// Parts of the process's time.
constexpr uint64_t kShareDuring = 100, kShareAtEnd = 50;

constinit uint64_t walked_ns = 0;

// The second figure of statm; as much as there can be where it can't be read.
uint64_t ResidentBytes() {
  constexpr uint64_t kUnknown = uint64_t{1} << 47;
  if (SystemCallsFiltered()) return kUnknown;
  const ErrnoGuard keep;
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return kUnknown;
  char text[64];
  const ssize_t n = read(fd, text, sizeof text);
  close(fd);
  const char* at = text;
  const char* const end = text + (n > 0 ? n : 0);
  const auto number = [&] {
    uint64_t value = 0;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
      value = value * 10 + static_cast<uint64_t>(*at - '0');
    }
    return value;
  };
  number();
  if (at == end || *at++ != ' ') return kUnknown;
  return number() * kPageBytes;
}

bool MapHasAllBlocks() {
  const RegionHeader& header = process_region.header();
  return header.options.sample_bytes == 0 && fork_generation == 1 &&
         header.attached.load(std::memory_order_relaxed) == 0;
}

uint64_t FreeChunks() {
  if (!MapHasAllBlocks()) return ResidentBytes() / kBytesAChunk;
  const PeakTracker heap(&process_region.header().peak);
  const uint64_t peak = heap.Peak();
  const auto current = static_cast<uint64_t>(std::max<int64_t>(heap.Current(), 0));
  const uint64_t freed = current < peak ? (peak - current) * kWhole / peak : 0;
  return live.MostBlocks() * std::max(freed, kBetweenBlocks) / kWhole;
}

}  // namespace

bool AffordsGlibcWalk(bool at_end) {
  const uint64_t expected = FreeChunks() * kNsAChunk;
  if (!at_end && expected > kLongestNs) return false;
  const uint64_t lived = MonotonicNs() - process_region.header().started_ns;
  return walked_ns + expected <=
         std::max(kAnyTimeNs, lived / (at_end ? kShareAtEnd : kShareDuring));
}

void CountGlibcWalk(uint64_t ns) { walked_ns += ns; }

}  // namespace memprof

// MemoryWatch: where the RSS of one image of the program was over time (resident_parts.h), by a
// thread of the supervisor's that reads /proc while the program goes on.
//
// Each look also asks the tracker for what the allocator says of itself, which is answered when the
// program next meets a new stack; so a sample has what was said between the look before and it, or
// what was said earlier and nothing has changed since; else nothing.
//
// Cost: intervals double as time passes, and until a look takes at most 1/kMomentShare of one. The
// kernel lists mappings piece by piece: a program with many of them may wait for one at most.
// Memory: kMaxMemorySamples samples; that of the highest RSS is kept whatever its time.
// Thread safety: one owner. Failure: what can't be read is not there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <future>
#include <optional>

#include "cli/supervisor/images/uniform_series.h"
#include "core/region/region_place.h"
#include "core/snapshot/memory_record.h"

namespace memprof {

inline constexpr uint64_t kFirstMemoryIntervalMs = 16;

class MemoryWatch {
 public:
  // The region's descriptor is duplicated. `start` is time 0. The process runs its image already.
  MemoryWatch(const RegionPlace& region, pid_t pid, std::chrono::steady_clock::time_point start);
  MemoryWatch(const MemoryWatch&) = delete;
  ~MemoryWatch();

  void Look();
  std::chrono::steady_clock::time_point NextLook() const;
  // Waits for a look that is under way: a process that forks has no such thread in its child.
  void Settle() {
    if (reading_.valid()) Collect();
  }
  // What there is. `alive`: the process still runs this image; else a look that is under way is
  // waited for.
  MemoryRecord Content(bool alive);

 private:
  struct Reading {
    std::optional<MemorySample> sample;
    std::chrono::nanoseconds cost;  // CPU time of the reading thread
  };
  uint64_t NowMs() const;
  Reading Read() const;
  void Start();
  void Collect();
  bool Done() const {
    return reading_.wait_for(std::chrono::nanoseconds(0)) == std::future_status::ready;
  }

  const RegionPlace region_;  // the descriptor is its own
  const int smaps_fd_, pagemap_fd_;
  const std::chrono::steady_clock::time_point start_;
  uint64_t stack_limit_;
  UniformSeries<MemorySample> series_{kFirstMemoryIntervalMs, kMaxMemorySamples - 1};
  std::optional<MemorySample> highest_;
  uint64_t asked_ms_ = 0;  // when the tracker was last asked
  AllocatorSample said_;   // the last answer that was taken, and what was live then
  uint64_t live_when_said_ = 0;
  std::future<Reading> reading_;
  bool gone_ = false;
};

}  // namespace memprof

// MemoryWatch: where the RSS of one image of the program was over time (resident_parts.h). A thread
// of the supervisor reads /proc while the program goes on.
//
// Each look also asks the tracker for the allocator's own figures. The tracker answers when the
// program next meets a new stack. A sample therefore has an answer that came since the previous
// look, or an older one if nothing has changed since; otherwise it has none.
//
// Cost: intervals double as time passes, and until a look takes at most 1/kMomentShare of one. The
// kernel lists mappings piece by piece: a program with many mappings waits for one piece at most.
// Memory: kMaxMemorySamples samples; the one with the highest RSS is kept whatever its time.
// Thread safety: one owner. Failure: what can't be read is left out.
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
  // Waits for a running look: a forked child of this process would not have its thread.
  void Settle() {
    if (reading_.valid()) Collect();
  }
  // The samples so far. `alive`: the process still runs this image. If not, a running look is
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

  const RegionPlace region_;
  const ScopedFd smaps_, pagemap_;
  const std::chrono::steady_clock::time_point start_;
  uint64_t stack_limit_;
  UniformSeries<MemorySample> series_{kFirstMemoryIntervalMs, kMaxMemorySamples - 1};
  std::optional<MemorySample> highest_;
  uint64_t asked_ms_ = 0;  // when the tracker was last asked
  AllocatorSample said_;   // the last answer, and what was live then
  uint64_t live_when_said_ = 0;
  std::future<Reading> reading_;
  bool gone_ = false;
};

}  // namespace memprof

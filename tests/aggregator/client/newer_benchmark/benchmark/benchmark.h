// The part of Google Benchmark since 1.9 that memprof/benchmark.h needs. Debian 12 doesn't have
// that version: the overload of Stop that 1.7 calls is gone.
#pragma once

#include <cstdint>

namespace benchmark {

class MemoryManager {
 public:
  struct Result {
    int64_t num_allocs = 0;
    int64_t max_bytes_used = 0;
    int64_t total_allocated_bytes = 0;
    int64_t net_heap_growth = 0;
    int64_t memory_iterations = 0;
  };
  virtual ~MemoryManager() = default;
  virtual void Start() = 0;
  virtual void Stop(Result& result) = 0;
};

inline void RegisterMemoryManager(MemoryManager*) {}

}  // namespace benchmark

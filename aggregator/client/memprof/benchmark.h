/* memprof/benchmark.h: memory in Google Benchmark's reports.
 *
 *   MEMPROF_BENCHMARK_MEMORY();
 *   BENCHMARK_MAIN();
 *
 * Run under `memprof run`, each benchmark then has in its JSON allocs_per_iter, max_bytes_used (how
 * much the heap grew by at its highest), total_allocated_bytes and net_heap_growth, of a run of its
 * own that Google Benchmark makes for it. What Google Benchmark allocates for itself is left out.
 * Without a tracker nothing is registered and the reports have none of it.
 *
 * Figures are of the whole process, all its threads included.
 */
#ifndef MEMPROF_BENCHMARK_H_
#define MEMPROF_BENCHMARK_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "memprof/detail/scope_report.h"
#include "memprof/memprof.h"

/* At namespace scope, once in a program. */
#define MEMPROF_BENCHMARK_MEMORY() \
  [[maybe_unused]] static const bool memprof_benchmark_memory = ::memprof::RegisterBenchmarkMemory()

namespace memprof {

/* Thread safety: as Google Benchmark uses it, by one thread. */
class BenchmarkMemoryManager : public ::benchmark::MemoryManager {
 public:
  void Start() { scope_ = memprof_scope_begin("benchmark", 0); }

  /* Older versions call the first (1.7 has both), newer ones have the second alone. Hence no
   * `override`: of each version one is none. */
  void Stop(Result* result) { Measure(*result); }
  void Stop(Result& result) { Measure(result); }

 private:
  void Measure(Result& result) {
    Figures figures;
    if (!memprof_scope_end(scope_, &figures)) {
      memprof_scope_release(scope_);
      if (memprof_present()) NotKnown(result);
      return;
    }
    const detail::ScopeReport own = Own(MEMPROF_BY_ALLOCATIONS);
    const detail::ScopeReport own_at_peak = Own(MEMPROF_BY_PEAK);
    memprof_scope_release(scope_);
    result.num_allocs = static_cast<int64_t>(figures.allocations) - own.excepted_blocks;
    result.total_allocated_bytes =
        static_cast<int64_t>(figures.allocated_bytes) - own.excepted_bytes;
    result.max_bytes_used =
        figures.peak_growth_bytes - std::max<int64_t>(own_at_peak.excepted_bytes, 0);
    result.net_heap_growth = figures.growth_bytes;
  }

  /* Nothing that could be taken for a figure. */
  static void NotKnown(Result& result) {
    std::fprintf(stderr,
                 "memprof: a benchmark's memory is not known: the tracker was busy with the scopes "
                 "of other threads\n");
    result.num_allocs = result.max_bytes_used = result.total_allocated_bytes =
        result.net_heap_growth = std::numeric_limits<int64_t>::max();
  }

  detail::ScopeReport Own(memprof_order order) const {
    return detail::ReportScope(scope_, {order, "benchmark::", "libbenchmark", nullptr});
  }

  memprof_scope scope_ = 0;
};

/* False: there is no tracker. */
inline bool RegisterBenchmarkMemory() {
  if (!memprof_present()) return false;
  static BenchmarkMemoryManager manager;
  ::benchmark::RegisterMemoryManager(&manager);
  return true;
}

} /* namespace memprof */

#endif /* MEMPROF_BENCHMARK_H_ */

// A Google Benchmark program with known figures of memory; tests/e2e/benchmark_memory_test.py has
// them. Google Benchmark measures memory over 16 iterations.
#include <memprof/benchmark.h>

#include <cstdlib>

namespace {

// 3 allocations and 600 bytes an iteration, 300 of them at most at once.
void BM_GivesBack(benchmark::State& state) {
  for (auto _ : state) {
    void* first = malloc(100);
    void* second = malloc(200);
    free(second);
    free(first);
    free(malloc(300));
  }
  // An allocation of Google Benchmark's own, in no figure of the program.
  state.SetLabel("a label that is too long for a short string");
}
BENCHMARK(BM_GivesBack)->Arg(1)->Iterations(1000);

// 10 bytes an iteration that stay.
void BM_Keeps(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(malloc(static_cast<size_t>(state.range(0))));
}
BENCHMARK(BM_Keeps)->Arg(10)->Iterations(1000);

void BM_AllocatesNothing(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
}
BENCHMARK(BM_AllocatesNothing)->Iterations(1000);

}  // namespace

MEMPROF_BENCHMARK_MEMORY();
BENCHMARK_MAIN();

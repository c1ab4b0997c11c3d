#include <memprof/benchmark.h>

#include <cstdlib>

static void BM_Parse(benchmark::State& state) {
  for (auto _ : state) {
    void* volatile text = std::malloc(100);
    std::free(text);
  }
}
BENCHMARK(BM_Parse);

MEMPROF_BENCHMARK_MEMORY();
BENCHMARK_MAIN();

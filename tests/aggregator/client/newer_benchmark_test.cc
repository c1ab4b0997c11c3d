#include <gtest/gtest.h>

#include "memprof/benchmark.h"

namespace memprof {
namespace {

TEST(BenchmarkMemoryManager, IsWholeWithTheNewerInterfaceToo) {
  BenchmarkMemoryManager manager;
  benchmark::MemoryManager& base = manager;
  benchmark::MemoryManager::Result result;
  base.Start();
  base.Stop(result);
  EXPECT_EQ(result.num_allocs, 0);  // no tracker
}

}  // namespace
}  // namespace memprof

// A tracker whose scopes begin but never get a turn to end.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "memprof/benchmark.h"
#include "memprof/gtest.h"

namespace {

int begun = 0;
int released = 0;

}  // namespace

extern "C" {
[[gnu::visibility("default")]] extern const memprof_client_table memprof_client_v1;
}
const memprof_client_table memprof_client_v1 = {
    .version = MEMPROF_CLIENT_VERSION,
    .size = sizeof(memprof_client_table),
    .counted = [] { return 1; },
    .start = [] { return 0; },
    .stop = [] { return 0; },
    .snapshot = [](const char*) { return 0; },
    .usage = [](memprof_usage*) { return 0; },
    .scope_begin = [](const char*, uint32_t) -> memprof_scope {
      return static_cast<memprof_scope>(++begun);
    },
    .scope_figures = [](memprof_scope, memprof_figures*) { return 0; },
    .scope_end = [](memprof_scope, memprof_figures*) { return 0; },
    .scope_stacks = [](memprof_scope, int, size_t, memprof_stack_callback, void*) -> size_t {
      return 0;
    },
    .scope_release = [](memprof_scope) { ++released; },
    .pool_arena = [](void*) {},
    .pool_alloc = [](const void*, size_t) {},
    .pool_free = [](const void*) {},
};

namespace memprof {
namespace {

class BusyTracker : public testing::Test {
 protected:
  BusyTracker() { begun = released = 0; }
  ~BusyTracker() override {
    unsetenv("MEMPROF_REQUIRED");
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(released, 1);
  }
};

TEST_F(BusyTracker, FailsALimitThatMustBeChecked) {
  setenv("MEMPROF_REQUIRED", "1", 1);
  EXPECT_NONFATAL_FAILURE({ MEMPROF_LIMIT_PEAK(0); }, "MEMPROF_LIMIT_PEAK(0): not checked");
}

TEST_F(BusyTracker, LetsALimitPassThatNeedNotBeAndSaysSo) {
  testing::internal::CaptureStderr();
  { MEMPROF_LIMIT_LEAKS(0); }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("MEMPROF_LIMIT_LEAKS(0): not checked"),
            std::string::npos);
}

TEST_F(BusyTracker, IsNoFailureWhileAnExceptionIsOnItsWay) {
  setenv("MEMPROF_REQUIRED", "1", 1);
  EXPECT_THROW(
      {
        MEMPROF_LIMIT_PEAK_THREAD(0);
        throw std::runtime_error("on its way");
      },
      std::runtime_error);
}

TEST_F(BusyTracker, LeavesABenchmarkWithoutFigures) {
  BenchmarkMemoryManager manager;
  benchmark::MemoryManager& base = manager;
  benchmark::MemoryManager::Result result;
  base.Start();
  testing::internal::CaptureStderr();
  base.Stop(result);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("not known"), std::string::npos);
  EXPECT_EQ(result.num_allocs, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(result.max_bytes_used, std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace memprof

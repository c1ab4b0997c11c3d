// A GoogleTest program with limits on memory. tests/e2e/test_limits_test.py runs it and knows which
// of its tests must fail. Every size is exactly what the limit allows, or a little more.
#include <memprof/gtest.h>

#include <clocale>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void* Allocate(size_t bytes) { return malloc(bytes); }
void Forget(size_t bytes) { Allocate(bytes); }
void HoldAtOnce(size_t bytes) { free(Allocate(bytes)); }
void AllocateOften(int times) {
  for (int i = 0; i < times; ++i) free(Allocate(10));
}

template <typename Work>
void InAnotherThread(Work work) {
  std::thread(work).join();
}

TEST(Peak, WithinPasses) {
  MEMPROF_LIMIT_PEAK("30 kB");
  HoldAtOnce(30720);
  HoldAtOnce(30720);
}

TEST(Peak, OverFails) {
  MEMPROF_LIMIT_PEAK("24 kB");
  HoldAtOnce(30720);
}

TEST(Peak, IsGrowthPasses) {
  void* before = Allocate(100000);
  MEMPROF_LIMIT_PEAK(1000);
  free(before);
  HoldAtOnce(101000);
}

TEST(Peak, OfManyPlacesFails) {
  MEMPROF_LIMIT_PEAK(std::string("1 KiB"));
  void* blocks[5];
  blocks[0] = malloc(20);
  blocks[1] = malloc(3000);
  blocks[2] = malloc(5000);
  blocks[3] = malloc(30);
  blocks[4] = malloc(4000);
  for (void* block : blocks) free(block);
}

TEST(Leaks, WithinPasses) {
  MEMPROF_LIMIT_LEAKS(100);
  Forget(100);
}

TEST(Leaks, OverFails) {
  MEMPROF_LIMIT_LEAKS(0);
  for (int i = 0; i < 2; ++i) Forget(1000);
  HoldAtOnce(5000);
}

TEST(Leaks, OfNoBytesFails) {
  MEMPROF_LIMIT_LEAKS(0);
  Forget(0);
}

// One call of realloc, so that both blocks are of one stack.
__attribute__((noinline)) void* Resized(void* block, size_t bytes) {
  return std::realloc(block, bytes);
}

TEST(Leaks, OfAnEnlargedBlockFails) {
  volatile size_t last = 101;  // not known, so that the loop has one call
  void* volatile block = nullptr;
  std::optional<memprof::LimitScope> scope;
  for (size_t bytes = 100; bytes <= last; ++bytes) {
    block = Resized(block, bytes);
    if (bytes == last) break;
    scope.emplace(memprof::LimitScope::kLeaks, false, memprof::detail::SizeLimit(0),
                  "MEMPROF_LIMIT_LEAKS(0)", false, __FILE__, __LINE__);
  }
  scope.reset();
  std::free(block);
}

TEST(Leaks, OfTheRuntimePasses) {
  MEMPROF_LIMIT_LEAKS(0);
  InAnotherThread([] { AllocateOften(3); });
  time_t now = 0;
  (void)localtime(&now);
}

TEST(Leaks, OfGoogleTestPasses) {
  MEMPROF_LIMIT_LEAKS(0);
  RecordProperty("a name that is too long for a short string", "and a value that is too");
}

TEST(Leaks, BesideGoogleTestsOwnFails) {
  MEMPROF_LIMIT_LEAKS(0);
  RecordProperty("a name that is too long for a short string", "and a value that is too");
  Forget(77);
}

// A cache of one entry. Its callers differ, so each entry has a stack of its own.
class Cache {
 public:
  ~Cache() { free(entry_); }
  __attribute__((noinline)) void Put(size_t bytes) {
    free(entry_);
    entry_ = malloc(bytes);
  }

 private:
  void* entry_ = nullptr;
};

TEST(Leaks, OfAReplacedEntryPasses) {
  Cache cache;
  cache.Put(500);
  MEMPROF_LIMIT_LEAKS(0);
  cache.Put(500);
}

TEST(Leaks, OfALargerEntryFails) {
  Cache cache;
  cache.Put(500);
  MEMPROF_LIMIT_LEAKS(0);
  cache.Put(540);
}

TEST(Leaks, BesideMemoryGivenBackFails) {
  Cache cache;
  cache.Put(500);
  MEMPROF_LIMIT_LEAKS(0);
  cache.Put(0);
  Forget(99);
}

TEST(Leaks, LeftByAnExceptionPasses) {
  try {
    MEMPROF_LIMIT_LEAKS(0);
    throw std::runtime_error("a text that is too long for a short string");
  } catch (const std::runtime_error&) {
  }
}

TEST(Allocations, WithinPasses) {
  MEMPROF_LIMIT_ALLOCATIONS(10);
  AllocateOften(10);
}

TEST(Allocations, OverFails) {
  MEMPROF_LIMIT_ALLOCATIONS(10);
  AllocateOften(1011);
}

TEST(Threads, AllocationsOfAnotherFails) {
  MEMPROF_LIMIT_ALLOCATIONS(50);
  InAnotherThread([] { AllocateOften(1000); });
}

TEST(Threads, AllocationsOfAnotherPasses) {
  MEMPROF_LIMIT_ALLOCATIONS_THREAD(50);
  InAnotherThread([] { AllocateOften(1000); });
}

TEST(Threads, OwnAllocationsFails) {
  MEMPROF_LIMIT_ALLOCATIONS_THREAD(50);
  AllocateOften(51);
}

TEST(Threads, PeakOfAnotherFails) {
  MEMPROF_LIMIT_PEAK("64 KiB");
  InAnotherThread([] { HoldAtOnce(1 << 20); });
}

TEST(Threads, PeakOfAnotherPasses) {
  MEMPROF_LIMIT_PEAK_THREAD("64 KiB");
  InAnotherThread([] { HoldAtOnce(1 << 20); });
}

TEST(Threads, OwnPeakFails) {
  MEMPROF_LIMIT_PEAK_THREAD("64 KiB");
  HoldAtOnce(65537);
}

TEST(Threads, LeakOfAnotherFails) {
  MEMPROF_LIMIT_LEAKS(0);
  InAnotherThread([] { Forget(123); });
}

TEST(Threads, LeakOfAnotherPasses) {
  MEMPROF_LIMIT_LEAKS_THREAD("8 KiB");
  InAnotherThread([] { Forget(100000); });
}

TEST(Threads, OwnBlockThatAnotherFreesPasses) {
  MEMPROF_LIMIT_LEAKS_THREAD("8 KiB");
  void* block = Allocate(100000);
  InAnotherThread([=] { free(block); });
}

TEST(Threads, OwnLeakFails) {
  MEMPROF_LIMIT_LEAKS_THREAD(0);
  Forget(321);
}

TEST(Nested, InnerAloneFails) {
  MEMPROF_LIMIT_PEAK(3000);
  MEMPROF_LIMIT_LEAKS(0);
  {
    MEMPROF_LIMIT_PEAK(1000);
    HoldAtOnce(2000);
  }
  HoldAtOnce(3000);
}

TEST(Nested, OuterAloneFails) {
  MEMPROF_LIMIT_PEAK(1500);
  void *first, *second;
  {
    MEMPROF_LIMIT_PEAK(1000);
    first = Allocate(1000);
  }
  {
    MEMPROF_LIMIT_PEAK(1000);
    second = Allocate(1000);
  }
  free(first);
  free(second);
}

TEST(Refused, TextFails) { MEMPROF_LIMIT_PEAK("24 XB"); }
TEST(Refused, NegativeFails) { MEMPROF_LIMIT_ALLOCATIONS(-1); }

}  // namespace

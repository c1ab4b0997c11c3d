#include "aggregator/events/sampler.h"

#include <fenv.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

namespace memprof {

// state/thread_state.cc has it in the tracker.
thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

namespace {

constexpr uint64_t kDistance = 10'000;

class SamplerTest : public testing::Test {
 protected:
  SamplerTest() {
    TrackerOptions options;
    options.sample_bytes = kDistance;
    options.sample_seed = 7;
    EXPECT_TRUE(StartSampler(options));
    thread_state.countdown = 0;
  }

  static int SamplesOf(int allocations, size_t size) {
    int samples = 0;
    for (int i = 0; i < allocations; ++i) samples += TakesSample(size) ? 1 : 0;
    return samples;
  }
};

void ExpectShare(int samples, int allocations, double share) {
  EXPECT_NEAR(samples, allocations * share,
              5 * std::sqrt(allocations * share * (1 - share)) + 1e-9);
}

TEST_F(SamplerTest, TakesEachSizeWithItsProbability) {
  constexpr int kAllocations = 1'000'000;
  for (const size_t size : {0u, 1u, 50u, 1000u, 9999u, 50'000u, 400'000u}) {
    ExpectShare(SamplesOf(kAllocations, size), kAllocations, SampledShare(size, kDistance));
  }
}

TEST_F(SamplerTest, TakesEachSizeOfAMixWithItsProbability) {
  constexpr int kRounds = 400'000;
  int samples[3] = {};
  const size_t sizes[3] = {16, 3000, 40'000};
  for (int i = 0; i < kRounds; ++i) {
    for (int k = 0; k < 3; ++k) samples[k] += TakesSample(sizes[k]) ? 1 : 0;
  }
  for (int k = 0; k < 3; ++k) ExpectShare(samples[k], kRounds, SampledShare(sizes[k], kDistance));
}

TEST_F(SamplerTest, GivesAThreadsFirstBlockNoMoreThanItsChance) {
  constexpr int kThreads = 200'000;
  int samples = 0;
  for (int i = 0; i < kThreads; ++i) {
    thread_state.countdown = 0;
    samples += TakesSample(2000) ? 1 : 0;
  }
  ExpectShare(samples, kThreads, SampledShare(2000, kDistance));
}

TEST_F(SamplerTest, DrawsSomethingElseForEachThread) {
  std::vector<int64_t> countdowns(8);
  std::vector<std::thread> threads;
  for (int64_t& countdown : countdowns) {
    threads.emplace_back([&countdown] {
      while (!TakesSample(0)) {
      }
      countdown = thread_state.countdown;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(countdowns.begin(), countdowns.end());
  EXPECT_EQ(std::adjacent_find(countdowns.begin(), countdowns.end()), countdowns.end());
}

// A signal handler that left before the new draw.
TEST_F(SamplerTest, BeginsAnewWhereACountdownWasLeftBelowZero) {
  constexpr int kTimes = 200'000;
  int samples = 0;
  for (int i = 0; i < kTimes; ++i) {
    thread_state.countdown = -(i % 1000) - 1;
    samples += TakesSample(2000) ? 1 : 0;
    EXPECT_GT(thread_state.countdown, 0);
  }
  ExpectShare(samples, kTimes, SampledShare(2000, kDistance));
}

// They fail in the allocator; what is left must go on as before.
TEST_F(SamplerTest, SurvivesSizesThatNoAllocatorGives) {
  for (const size_t size :
       {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX / 4 * 3}) {
    thread_state.countdown = 0;
    TakesSample(size);
    TakesSample(size);
    ExpectShare(SamplesOf(100'000, 1000), 100'000, SampledShare(1000, kDistance));
  }
}

TEST_F(SamplerTest, RoundsBlocksOfOneSizeToTheirMean) {
  constexpr int kBlocks = 200'000;
  for (const size_t size : {100u, 8000u, 12'000u, 500'000u}) {
    double blocks = 0;
    for (int i = 0; i < kBlocks; ++i) {
      blocks += static_cast<double>(WeightOfKept(KeptSize(size)).blocks);
    }
    EXPECT_NEAR(blocks / kBlocks, 1 / SampledShare(size, kDistance), 5 * 0.5 / std::sqrt(kBlocks));
  }
  EXPECT_EQ(KeptSize(size_t{1} << 45), ~uint64_t{0});
}

TEST_F(SamplerTest, WeighsABlockTheSameWhateverTheProgramsFloatsAre) {
  for (uint64_t size = 0; size < 5000; ++size) {
    const uint64_t kept = KeptSize(size);
    const SampleWeight weight = WeightOfKept(kept);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      fesetround(mode);
      feclearexcept(FE_ALL_EXCEPT);
      feenableexcept(FE_ALL_EXCEPT);  // the program would rather die
      const SampleWeight now = WeightOfKept(kept);
      const bool sampled = TakesSample(20'000);
      const uint64_t again = KeptSize(size);
      fedisableexcept(FE_ALL_EXCEPT);
      EXPECT_EQ(fetestexcept(FE_ALL_EXCEPT), 0);
      EXPECT_EQ(fegetround(), mode);
      fesetround(FE_TONEAREST);
      EXPECT_EQ(now, weight);
      EXPECT_LE(WeightOfKept(again).bytes, weight.bytes + 1);
      static_cast<void>(sampled);
    }
  }
}

}  // namespace
}  // namespace memprof

#include "core/snapshot/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/protocol/sample_weight.h"

namespace memprof {
namespace {

// Samples the same blocks again and again.
struct Simulated {
  double mean_bytes = 0, mean_blocks = 0;  // of the estimates
  double variance_bytes = 0, variance_blocks = 0;
  Variance told;  // what the estimates say of themselves, on average
};

Simulated Simulate(uint64_t distance, int blocks, const std::function<uint64_t(int)>& size_of) {
  constexpr int kRuns = 4000;
  std::mt19937_64 random(distance + static_cast<uint64_t>(blocks));
  Simulated s;
  double squares_bytes = 0, squares_blocks = 0;
  for (int run = 0; run < kRuns; ++run) {
    Count estimate;
    for (int i = 0; i < blocks; ++i) {
      const uint64_t size = size_of(i);
      if (UnitInterval(random()) >= SampledShare(size, distance)) continue;
      const uint32_t up = DrawRounding(size, UnitInterval(random()), distance);
      const SampleWeight weight = WeightOf(size, up, distance);
      estimate += {weight.bytes, weight.blocks};
    }
    const auto bytes = static_cast<double>(estimate.bytes);
    const auto count = static_cast<double>(estimate.allocations);
    s.mean_bytes += bytes / kRuns;
    s.mean_blocks += count / kRuns;
    squares_bytes += bytes * bytes / kRuns;
    squares_blocks += count * count / kRuns;
    const Variance told = VarianceOf(estimate, distance);
    s.told.bytes += told.bytes / kRuns;
    s.told.allocations += told.allocations / kRuns;
  }
  s.variance_bytes = squares_bytes - s.mean_bytes * s.mean_bytes;
  s.variance_blocks = squares_blocks - s.mean_blocks * s.mean_blocks;
  return s;
}

void ExpectHonest(uint64_t distance, int blocks, const std::function<uint64_t(int)>& size_of) {
  SCOPED_TRACE(testing::Message() << distance << " " << blocks << " of " << size_of(0));
  double bytes = 0;
  for (int i = 0; i < blocks; ++i) bytes += static_cast<double>(size_of(i));
  const Simulated s = Simulate(distance, blocks, size_of);
  EXPECT_NEAR(s.mean_bytes, bytes, 5 * std::sqrt(s.variance_bytes / 4000));
  EXPECT_NEAR(s.mean_blocks, blocks, 5 * std::sqrt(s.variance_blocks / 4000));
  EXPECT_NEAR(s.told.bytes / s.variance_bytes, 1, 0.12);
  EXPECT_NEAR(s.told.allocations / s.variance_blocks, 1, 0.12);
}

TEST(Sampling, EstimatesWithoutBiasAndKnowsItsVariance) {
  for (const uint64_t size : {16u, 100u, 3000u, 20'000u}) {
    ExpectHonest(10'000, 2000, [size](int) { return size; });
  }
}

TEST(Sampling, KnowsItsVarianceForSizesOfOneClass) {
  ExpectHonest(100'000, 3000, [](int i) { return 64u + static_cast<uint64_t>(i) % 64; });
  ExpectHonest(10'000, 1000, [](int i) { return 8192u + static_cast<uint64_t>(i) * 8; });
}

TEST(Sampling, CountsEmptyBlocks) {
  const Simulated s = Simulate(100, 1000, [](int) { return 0; });
  EXPECT_EQ(s.mean_bytes, 0);
  EXPECT_NEAR(s.mean_blocks, 1000, 5 * std::sqrt(s.variance_blocks / 4000));
  EXPECT_NEAR(s.told.allocations / s.variance_blocks, 1, 0.1);
}

TEST(Sampling, HasNoErrorWhereEverythingIsCounted) {
  EXPECT_EQ(StandardError(VarianceOf({1000, 10}, 0)), Count());
  EXPECT_EQ(StandardError(VarianceOf({0, 0}, 4096)), Count());
  // Each was sure to be sampled.
  EXPECT_EQ(StandardError(VarianceOf({1 << 30, 1}, 4096)), Count());
}

TEST(Sampling, SurvivesFiguresThatCanNotBe) {
  for (const Count& count : {Count{~0ull, 0}, Count{0, ~0ull}, Count{~0ull, ~0ull}, Count{5, 0}}) {
    for (const uint64_t distance : {uint64_t{1}, ~uint64_t{0}}) {
      const Variance variance = VarianceOf(count, distance);
      EXPECT_TRUE(std::isfinite(variance.bytes) && std::isfinite(variance.allocations));
      StandardError(variance);
    }
  }
}

TEST(Sampling, SumsVariancesNotErrors) {
  Variance sum = VarianceOf({100'000, 1000}, 4096);
  sum += VarianceOf({100'000, 1000}, 4096);
  EXPECT_NEAR(std::sqrt(sum.bytes), std::sqrt(2 * VarianceOf({100'000, 1000}, 4096).bytes), 1e-6);
}

TEST(Sampling, IsToldInTheFiguresOwnUnit) {
  EXPECT_EQ(FormatBytesWithError(12'900'000, 943'718), "12.3 ± 0.9 MiB");
  EXPECT_EQ(FormatBytesWithError(500, 20), "500 ± 20 B");
  EXPECT_EQ(FormatBytesWithError(500, 0), "500 B");
  EXPECT_EQ(FormatBytesWithError(0, 0), "0 B");
  EXPECT_EQ(FormatBytesWithError(561'473, 524'505), "548.3 ± 512.2 KiB");
  EXPECT_EQ(FormatCountWithError(12'345, 1'234), "12,345 ± 1,234");
  const Variance variance = {943'718.0 * 943'718.0, 100};
  EXPECT_EQ(FormatFigure({12'900'000, 1}, {}, 0), "12.3 MiB (12,900,000 B) in 1 allocation");
  EXPECT_EQ(FormatFigure({12'900'000, 4000}, variance, 4096),
            "≈ 12.3 ± 0.9 MiB in ≈ 4,000 ± 10 allocations");
  EXPECT_EQ(SamplingText(512 << 10),
            "one block per 512.0 KiB on average; figures are estimates ± one standard error");
}

}  // namespace
}  // namespace memprof

#include "core/protocol/sample_weight.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace memprof {
namespace {

constexpr uint64_t kDistances[] = {1, 2, 1000, 4096, 512 << 10, kMaxSampleBytes};

TEST(NegativeLog, IsLibmsToTwelveDigits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    // As draws are, and of every magnitude.
    for (const double u :
         {1 - UnitInterval(random()), std::ldexp(0.5 + UnitInterval(random()) / 2, -(i % 60))}) {
      const double expected = -std::log(u);
      ASSERT_NEAR(NegativeLog(u), expected, 1e-12 * expected) << u;
    }
  }
  EXPECT_EQ(NegativeLog(1), 0);
  EXPECT_NEAR(NegativeLog(0x1p-53), 53 * std::log(2.0), 1e-12);
}

TEST(OneMinusExp, IsLibmsToTwelveDigits) {
  EXPECT_EQ(OneMinusExp(0), 0);
  for (double x = 1e-12; x < 100; x *= 1.0001) {
    ASSERT_NEAR(OneMinusExp(x), -std::expm1(-x), 1e-12 * -std::expm1(-x)) << x;
  }
  EXPECT_EQ(OneMinusExp(1e300), 1);
}

TEST(SampleWeight, StandsForOneBlockAndItsBytesOnAverage) {
  constexpr int kDraws = 100'000;
  std::mt19937_64 random(3);
  for (const uint64_t distance : kDistances) {
    for (const uint64_t size : {0u, 1u, 24u, 100u, 4096u, 100'000u, 3'000'000u}) {
      double bytes = 0, blocks = 0;
      for (int i = 0; i < kDraws; ++i) {
        const uint32_t up = DrawRounding(size, UnitInterval(random()), distance);
        const SampleWeight weight = WeightOf(size, up, distance);
        bytes += static_cast<double>(weight.bytes);
        blocks += static_cast<double>(weight.blocks);
      }
      const double share =
          -std::expm1(-(static_cast<double>(size) + 1) / static_cast<double>(distance));
      // Rounding alone is left: at most 1/2 a block, over so many.
      const double off = 5 * 0.5 / std::sqrt(kDraws) + 1e-9 / share;
      EXPECT_NEAR(bytes / kDraws, static_cast<double>(size) / share,
                  off + 1e-9 * static_cast<double>(size) / share);
      EXPECT_NEAR(blocks / kDraws, 1 / share, off);
    }
  }
}

TEST(SampleWeight, IsTheBlockItselfWhereItWasSureToBeSampled) {
  for (const uint64_t size : {64ull << 20, 1ull << 40, (1ull << 47) - 1}) {
    EXPECT_EQ(DrawRounding(size, 0, 512 << 10), 0u);
    EXPECT_EQ(WeightOf(size, 0, 512 << 10), (SampleWeight{size, 1}));
  }
}

TEST(SampleWeight, IsNeverNothing) {
  for (const uint64_t distance : kDistances) {
    for (uint64_t size = 0; size < 1000; ++size) {
      const SampleWeight weight = WeightOf(size, 0, distance);
      EXPECT_GE(weight.blocks, 1u);
      EXPECT_GE(weight.bytes, size);
    }
  }
}

TEST(SizeClass, IsTheBitsOfTheSize) {
  EXPECT_EQ(SizeClass(0), 0u);
  EXPECT_EQ(SizeClass(1), 1u);
  EXPECT_EQ(SizeClass(64), 7u);
  EXPECT_EQ(SizeClass(127), 7u);
  for (uint64_t size = 0; size < 5000; ++size) {
    EXPECT_LE(SmallestOfClass(SizeClass(size)), size);
    EXPECT_GT(SmallestOfClass(SizeClass(size) + 1), size);
  }
}

}  // namespace
}  // namespace memprof

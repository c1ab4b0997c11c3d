// SampleWeight: the figures that one sampled block stands for.
//
// With sampling, each allocated byte is hit with the same small probability, once in B bytes on
// average: a Poisson process. Each block has one byte more, so that empty blocks are seen too. A
// block is booked if one of its bytes is hit. So a block of size s is booked with the probability
//
//   p(s) = 1 − e^(−(s+1)/B)
//
// and then stands for 1/p(s) blocks of s bytes. The expected value of what is booked for a block is
// 1 block and s bytes, whatever its size. So every sum of blocks is an unbiased estimate (Horvitz
// and Thompson, 1952; core/snapshot/sampling.h has the standard error).
//
// Counters are whole numbers: a weight is rounded up with the probability of its fraction, so that
// its mean stays right. The direction is drawn once for each block and kept with it, in two bits. A
// free therefore cancels its allocation to the byte. (A hash of the address would not do instead of
// a draw: a program that gets the same address again and again would have all those blocks rounded
// the same way.)
//
// Freestanding, without libm: the tracker needs it. Everything is a pure function, for floats that
// round to nearest (aggregator/basics/plain_floats.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace memprof {

// The largest mean distance between samples. A block then stands for at most that many blocks.
inline constexpr uint64_t kMaxSampleBytes = 1ull << 30;

// The class of a block's size: the number of bits that it takes. While sampling, sites are kept by
// class, so that blocks of one site have about the same weight.
inline constexpr uint32_t SizeClass(uint64_t size) {
  return static_cast<uint32_t>(std::bit_width(size));
}
inline constexpr uint32_t kLargestSizeClass = 64;
inline constexpr uint64_t SmallestOfClass(uint32_t size_class) {
  return size_class == 0 ? 0 : uint64_t{1} << (size_class - 1);
}

namespace sample_weight_detail {

inline constexpr double kLn2 = 0.69314718055994530942;

inline double PowerOfTwo(int exponent) {  // -1022 to 1023
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace sample_weight_detail

// −ln(u) for 0 < u <= 1; relative error below 1e-14.
inline double NegativeLog(double u) {
  using namespace sample_weight_detail;
  // u = m · 2^e with m from sqrt(1/2) to sqrt(2); ln m = 2 artanh t, t = (m − 1) / (m + 1).
  constexpr uint64_t kHalfRoot = 0x3fe6a09e667f3bcdull;  // sqrt(1/2)
  const uint64_t bits = std::bit_cast<uint64_t>(u);
  const int exponent = static_cast<int>(static_cast<int64_t>(bits - kHalfRoot) >> 52);
  const double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double t = (m - 1) / (m + 1);
  const double square = t * t;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return -(exponent * kLn2 + 2 * t * sum);
}

// 1 − e^(−x) for x >= 0; relative error below 1e-14.
inline double OneMinusExp(double x) {
  using namespace sample_weight_detail;
  if (x > 40) return 1;
  // x = k ln 2 + r with |r| <= ln 2 / 2; e^(−r) − 1 by its series.
  const int k = static_cast<int>(x / kLn2 + 0.5);
  const double r = x - k * kLn2;
  double sum = 0;
  for (int n = 16; n >= 1; --n) sum = (1 + sum) * -r / n;
  const double scale = PowerOfTwo(-k);
  return (1 - scale) - scale * sum;
}

// p(size): the probability that a block is sampled.
inline double SampledShare(uint64_t size, uint64_t sample_bytes) {
  return OneMinusExp((static_cast<double>(size) + 1) / static_cast<double>(sample_bytes));
}

// Mixes a word so that every bit depends on every bit (SplitMix64, Steele and others, 2014).
inline constexpr uint64_t MixedBits(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
  return word ^ (word >> 31);
}

// 53 bits of a word as a number from 0 (included) to 1 (excluded).
inline double UnitInterval(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

struct SampleWeight {
  uint64_t bytes;
  uint64_t blocks;
  friend bool operator==(const SampleWeight&, const SampleWeight&) = default;
};

inline constexpr uint32_t kBytesUp = 1;
inline constexpr uint32_t kBlocksUp = 2;

// The figures that a sampled block is booked with, rounded as `up` says: kBytesUp | kBlocksUp.
inline SampleWeight WeightOf(uint64_t size, uint32_t up, uint64_t sample_bytes) {
  const double scale = 1 / SampledShare(size, sample_bytes);
  return {static_cast<uint64_t>(static_cast<double>(size) * scale) + (up & kBytesUp),
          static_cast<uint64_t>(scale) + (up & kBlocksUp) / kBlocksUp};
}

// Draws the rounding by a random number from 0 to 1. Rounds neither up if the block was sure to be
// sampled: its weight is then {size, 1}.
inline uint32_t DrawRounding(uint64_t size, double random, uint64_t sample_bytes) {
  const double scale = 1 / SampledShare(size, sample_bytes);
  const auto up = [random](double value) {
    return random < value - static_cast<double>(static_cast<uint64_t>(value));
  };
  return (up(static_cast<double>(size) * scale) ? kBytesUp : 0) | (up(scale) ? kBlocksUp : 0);
}

}  // namespace memprof

// The standard error of figures that were estimated by sampling (core/protocol/sample_weight.h).
//
// Block i of size y is booked with probability p, and then counts y/p bytes. So the estimate of a
// sum over blocks has the variance
//
//   Var Σ y/p = Σ over all blocks  y² (1 − p)/p = Σ  y² / (e^((y+1)/B) − 1)
//
// since (1 − p)/p = e^(−x) / (1 − e^(−x)) with x = (y+1)/B. For the number of blocks y² is 1. The
// blocks themselves aren't known, but a site has blocks of one size class only, all about as large
// as their mean m = bytes/blocks. With the estimated number c of blocks
//
//   Var(bytes) ≈ c m² / (e^((m+1)/B) − 1)      Var(blocks) ≈ c / (e^((m+1)/B) − 1) + c p f (1 − f)
//
// which for blocks of one size is the unbiased estimate of Horvitz and Thompson. The last term
// accounts for the rounding to whole blocks: each of the c p samples is rounded up with the
// probability f, the fraction of 1/p. The rounding of bytes adds at most 1/4 a sample and is left
// out. Samples are independent, so the variances of sites add up, and the standard error of a row
// is the root of the sum over its sites. The limits: a place without a sampled block is in no row
// and in no error; in a row with few samples the error itself is rough.
//
// The peak is the highest of many estimates, so on average it is a little above the program's. The
// difference is below its standard error, and is not corrected.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "core/figure.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

struct Variance {
  double bytes = 0;
  double allocations = 0;
  Variance& operator+=(const Variance& o) {
    bytes += o.bytes;
    allocations += o.allocations;
    return *this;
  }
};

struct FigureVariances {
  Variance peak, leaked, total, temporary;
  FigureVariances& operator+=(const FigureVariances& o) {
    AddFigures(*this, o);
    return *this;
  }
};

// The variance of one site's figure; 0 if sample_bytes is 0: the figure is exact.
Variance VarianceOf(const Count& count, uint64_t sample_bytes);
FigureVariances VariancesOf(const SnapshotSite& site, uint64_t sample_bytes);
FigureVariances SumVariances(const Snapshot& snapshot);

// Rounded to whole bytes and blocks.
Count StandardError(const Variance& variance);

// "one block per 512.0 KiB on average; figures are estimates ± one standard error"
std::string SamplingText(uint64_t sample_bytes);

// "12.3 ± 0.9 MiB", "1,234 ± 56"; without an error as FormatBytes and FormatCount.
std::string FormatBytesWithError(uint64_t bytes, uint64_t error);
std::string FormatCountWithError(uint64_t count, uint64_t error);

// "23.4 MiB (24,536,678 B) in 1,234 allocations"; estimated "≈ 23.4 ± 0.9 MiB in ≈ 1,234 ± 56
// allocations".
std::string FormatFigure(const Count& count, const Variance& variance, uint64_t sample_bytes);

}  // namespace memprof

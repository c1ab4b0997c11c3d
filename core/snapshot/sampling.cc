#include "core/snapshot/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.h"

namespace memprof {
namespace {

// Has to work for any value in a damaged capture, too.
uint64_t RootOf(double variance) {
  return static_cast<uint64_t>(std::round(std::min(std::sqrt(variance), 0x1p63)));
}

}  // namespace

Variance VarianceOf(const Count& count, uint64_t sample_bytes) {
  if (sample_bytes == 0 || count == Count()) return {};
  // A figure that was read during an event may have bytes and no block.
  const double blocks = count.allocations != 0 ? static_cast<double>(count.allocations) : 1;
  const double mean = static_cast<double>(count.bytes) / blocks;
  const double x = (mean + 1) / static_cast<double>(sample_bytes);
  const double each = 1 / std::expm1(x);
  const double share = -std::expm1(-x);
  const double up = 1 / share - std::floor(1 / share);
  return {blocks * mean * mean * each, blocks * (each + share * up * (1 - up))};
}

FigureVariances VariancesOf(const SnapshotSite& site, uint64_t sample_bytes) {
  return {VarianceOf(site.peak, sample_bytes), VarianceOf(site.leaked, sample_bytes),
          VarianceOf(site.total, sample_bytes), VarianceOf(site.temporary, sample_bytes)};
}

FigureVariances SumVariances(const Snapshot& snapshot) {
  FigureVariances sum;
  for (const SnapshotSite& site : snapshot.sites) {
    sum += VariancesOf(site, snapshot.tracker.sample_bytes);
  }
  return sum;
}

Count StandardError(const Variance& variance) {
  return {RootOf(variance.bytes), RootOf(variance.allocations)};
}

std::string SamplingText(uint64_t sample_bytes) {
  return fmt::format("one block per {} on average; figures are estimates ± one standard error",
                     FormatBytes(sample_bytes));
}

std::string FormatBytesWithError(uint64_t bytes, uint64_t error) {
  std::string text = FormatBytes(bytes);
  const size_t unit = text.find(' ');
  if (error == 0 || unit == std::string::npos) return text;
  // In the figure's own unit, which is the one whose number FormatBytes printed.
  double scaled = static_cast<double>(error);
  for (size_t i = 0; kByteUnits[i] != text.substr(unit + 1); ++i) scaled /= 1024;
  const bool whole = text.ends_with(" B");
  return fmt::format("{} ± {:.{}f}{}", text.substr(0, unit), scaled, whole ? 0 : 1,
                     text.substr(unit));
}

std::string FormatCountWithError(uint64_t count, uint64_t error) {
  if (error == 0) return FormatCount(count);
  return fmt::format("{} ± {}", FormatCount(count), FormatCount(error));
}

std::string FormatFigure(const Count& count, const Variance& variance, uint64_t sample_bytes) {
  const char* blocks = count.allocations == 1 ? "allocation" : "allocations";
  if (sample_bytes == 0) {
    return fmt::format("{} in {} {}", FormatBytesExact(count.bytes), FormatCount(count.allocations),
                       blocks);
  }
  const Count error = StandardError(variance);
  return fmt::format("≈ {} in ≈ {} {}", FormatBytesWithError(count.bytes, error.bytes),
                     FormatCountWithError(count.allocations, error.allocations), blocks);
}

}  // namespace memprof

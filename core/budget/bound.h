// Bound: how high a figure may be, either absolutely or relative to a baseline.
//
//   "24 MiB"  1000  "25%"       absolute
//   "+5%"  "+2 MiB"  "+100"     more than the baseline's; if several are given, the largest counts
//
// Values are doubles: whole bytes and counts are exact below 2^53 (8 PiB).
// Thread safety: pure.
// Failure: kUsage, one line without the position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace memprof {

enum class Unit : uint8_t { kBytes, kCount, kPercent, kBytesPerHour };

struct Increment {
  double percent = 0;  // of the baseline's value
  double amount = 0;   // in the limit's unit; at most one of percent and amount is not 0
};

struct Bound {
  std::optional<double> most;         // the absolute limit
  std::vector<Increment> increments;  // over the baseline; empty: needs no baseline
  std::string text;                   // as it was written: "24 MiB", "+5% or +2 MiB"
};

// The largest amount that the increments allow over a baseline's `value`; at least the noise floor.
double LargestIncrement(const std::vector<Increment>& increments, double value, double noise_floor);

Result<double> ParseAmount(std::string_view text, Unit unit);
Result<Increment> ParseIncrement(std::string_view text, Unit unit);  // begins with '+'

// "23.4 MiB", "1,234", "12.5%", "1.5 MiB/h".
std::string FormatValue(double value, Unit unit);
// Exact to the byte where FormatValue rounds: "23.4 MiB (24,536,678 B)".
std::string FormatValueExact(double value, Unit unit);

}  // namespace memprof

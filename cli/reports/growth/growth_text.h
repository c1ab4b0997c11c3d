// GrowthText: the growth report as text. Each growing place has a row with its rate, and its
// callers below. Places that level off follow in short form; the others are only counted.
//
// Invariant: the rates of the rows sum to the rate of the last row, and so do the live figures.
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/reports/growth/growth_rows.h"
#include "cli/terminal/terminal.h"

namespace memprof {

struct GrowthTextOptions {
  size_t rows = 0;   // at most so many growing places; 0: all
  bool all = false;  // a row for every place, whatever its verdict
  std::optional<uint64_t> limit_bytes;
  TextStyle style = {};
};

std::string GrowthText(const Profile& profile, const GrowthReport& report,
                       const GrowthTextOptions& options);

}  // namespace memprof

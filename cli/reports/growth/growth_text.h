// GrowthText: what grows, as text: a row a place with its rate, below it its callers; then what
// levels off, shortly; the others by number.
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
  size_t rows = 0;   // at most so many that grow; 0: all
  bool all = false;  // a row for every place, whatever its verdict
  std::optional<uint64_t> limit_bytes;
  TextStyle style = {};
};

std::string GrowthText(const Profile& profile, const GrowthReport& report,
                       const GrowthTextOptions& options);

}  // namespace memprof

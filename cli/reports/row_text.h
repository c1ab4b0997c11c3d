// Rows as aligned text: the body of summary and table.
//
// Invariant: rows that are not shown are summed as "others", so every column sums to the total
// below it.
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/reports/rows.h"
#include "cli/terminal/terminal.h"

namespace memprof {

struct RowTextOptions {
  Figure figure = Figure::kPeak;
  size_t rows = 0;  // 0: all; the row of what is kept by design is shown in addition
  // With kBytes and kAllocations, rows whose figure is 0 are summed as "others". With the other
  // orders they stay rows, unless their total is 0 too.
  SortKey sort = SortKey::kBytes;
  bool stacks = false;   // a second line with the callers of the heaviest stack
  bool modules = false;  // a column with the module, if there is room
  TextStyle style = {};
};

// Returns "← caller ← its caller …" for the stack that ends in `leaf`, from its location outwards.
// It is at most `columns` wide, and empty if there is no caller.
std::string CallersText(const Profile& profile, uint32_t leaf, size_t columns);

std::string RowText(const Profile& profile, const std::vector<LocationRow>& rows,
                    const RowTextOptions& options);

}  // namespace memprof

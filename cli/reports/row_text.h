// Rows as aligned text: the body of summary and table.
//
// Invariant: what is not shown is one row "others", so every column sums to the total below it.
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
  size_t rows = 0;  // 0: all; what is kept by design is shown beyond them
  // Sorted by the figure, rows without any are others; else they have their place.
  SortKey sort = SortKey::kBytes;
  bool stacks = false;   // a second line with the callers of the heaviest stack
  bool modules = false;  // a column with the module, where there is room
  TextStyle style = {};
};

// "← caller ← its caller …" of the stack with that leaf, from its location outwards; empty: none.
std::string CallersText(const Profile& profile, uint32_t leaf, size_t columns);

std::string RowText(const Profile& profile, const std::vector<LocationRow>& rows,
                    const RowTextOptions& options);

}  // namespace memprof

// Rows as aligned text: the body of summary and table.
//
// Invariant: what is not shown is one last row, so the shown figures sum to the total below them.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/rows.h"
#include "cli/reports/terminal.h"

namespace memprof {

struct RowTextOptions {
  bool leaks = false;
  size_t rows = 0;      // 0: all
  bool stacks = false;  // a second line with the callers of the heaviest stack
  TextStyle style;
};

std::string RowText(const Profile& profile, const std::vector<LocationRow>& rows,
                    const RowTextOptions& options);

}  // namespace memprof

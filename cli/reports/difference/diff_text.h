// The difference of two captures as text: heads, totals, and the rows that changed.
//
// Invariant: the changes of the lines sum to that of the total below them; what did not change, and
// what is beyond the rows asked for, has a line of its own.
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/reports/difference/profile_diff.h"
#include "cli/terminal/terminal.h"

namespace memprof {

struct DiffSide {
  std::string name;  // of the capture's file
  const Profile* profile = nullptr;
};

struct DiffTextOptions {
  DiffBy by = DiffBy::kSite;
  Figure figure = Figure::kPeak;
  DiffSort sort = DiffSort::kBytes;
  size_t rows = 0;  // 0: all that changed
  TextStyle style = {};
};

std::string DiffText(const DiffSide& before, const DiffSide& after, const DiffTextOptions& options);

// "← caller ← its caller …" from the location outwards, without how a program starts. By site.
std::string CallersText(const DiffRow& row);

// "+1.2 MiB", "-12 B", "0 B"; with an error "+1.2 ± 0.3 MiB".
std::string FormatBytesChange(int64_t bytes, uint64_t error = 0);
std::string FormatCountChange(int64_t count, uint64_t error = 0);
// "+12.5%"; "new" where there was nothing, "gone" where nothing is left.
std::string FormatRelativeChange(uint64_t before, uint64_t after);

}  // namespace memprof

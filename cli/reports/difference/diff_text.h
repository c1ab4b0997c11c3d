// The difference of two captures as text: heads, totals, and the rows that changed.
//
// Invariant: the changes of the lines sum to that of the total below them. Rows that did not
// change, and rows beyond the requested number, are summed in a line of their own.
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/reports/difference/profile_diff.h"
#include "cli/terminal/terminal.h"

namespace memprof {

struct DiffSide {
  std::string name;  // the name of the capture's file
  const Profile* profile = nullptr;
  std::string note = {};  // empty: none; which functions are shown by their later names
};

struct DiffTextOptions {
  DiffBy by = DiffBy::kSite;
  Figure figure = Figure::kPeak;
  DiffSort sort = DiffSort::kBytes;
  size_t rows = 0;  // 0: all rows that changed
  TextStyle style = {};
};

std::string DiffText(const DiffSide& before, const DiffSide& after, const DiffTextOptions& options);

// "← caller ← its caller …" from the location outwards, without the frames of a program's start.
// For rows by site.
std::string CallersText(const DiffRow& row);

// "+1.2 MiB", "-12 B", "0 B"; with an error "+1.2 ± 0.3 MiB".
std::string FormatBytesChange(int64_t bytes, uint64_t error = 0);
std::string FormatCountChange(int64_t count, uint64_t error = 0);
// "+12.5%"; "new" if there was nothing before, "gone" if nothing is left.
std::string FormatRelativeChange(uint64_t before, uint64_t after);

}  // namespace memprof

// ProfileDiff: compares two profiles row by row.
//
// Rows are matched by SymbolKey (core/profile/symbol_key.h), never by address or line, so that two
// builds of a program can be compared. Blocks kept by design are one row.
//
// Invariant: for every figure the rows sum to the profiles' totals before and after. So their
// differences sum to the difference of the totals.
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/profile.h"
#include "core/result.h"
#include "formats/export/exporters.h"

namespace memprof {

enum class DiffBy {
  kSite,      // the whole stack
  kFunction,  // the location's function (core/profile/location.h)
  kModule,    // the location's module
};
inline constexpr DiffBy kAllDiffBys[] = {DiffBy::kSite, DiffBy::kFunction, DiffBy::kModule};
const char* NameOf(DiffBy by);
Result<DiffBy> ParseDiffBy(std::string_view text);

enum class DiffSort { kBytes, kAllocations, kFunction };
Result<DiffSort> ParseDiffSort(std::string_view text);

struct DiffFigures : Figures {
  FigureVariances variances;
};

struct DiffFrame {
  std::string function, module;  // as in the later profile if the frame is there; the module's path
};

struct DiffRow {
  // a location's, or a bracketed row; empty if rows are by module
  std::string function;
  std::string module;                 // path; empty: none
  std::string file;                   // empty: not known, or none
  uint32_t line = 0;                  // 0: not known, or several lines
  std::vector<DiffFrame> stack = {};  // if rows are by site: innermost first
  size_t location = 0;                // index into stack
  DiffFigures before, after;
};

// Largest change of the figure first; equal ones by name.
std::vector<DiffRow> DiffRows(const Profile& before, const Profile& after, DiffBy by,
                              Figure figure = Figure::kPeak, DiffSort sort = DiffSort::kBytes);

DiffFigures FiguresOf(const Profile& profile);

// The figures that both sides have: an old capture may lack the temporary blocks, and a moment has
// only what was live, in place of the peak.
std::vector<Figure> KnownFigures(const Profile& before, const Profile& after);

struct Change {
  int64_t bytes = 0;
  int64_t allocations = 0;
  friend bool operator==(const Change&, const Change&) = default;
};
Change ChangeOf(const Count& before, const Count& after);

// The variance of a difference of independent estimates.
Variance ChangeVariance(const DiffFigures& before, const DiffFigures& after, Figure figure);

}  // namespace memprof

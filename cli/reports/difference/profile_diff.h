// ProfileDiff: two profiles side by side, row by row: what has more, what has less.
//
// Rows are found by SymbolKey (core/profile/symbol_key.h), never by address or line, so that two
// builds of a program can be compared. What is kept by design is one row of its own.
//
// Invariant: for every figure the rows sum to the profile's totals before and after, and so their
// differences to the difference of the totals.
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/profile.h"
#include "core/result.h"
#include "formats/exporters.h"

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
  std::string function, module;  // as in the later profile if it is there; the module's path
};

struct DiffRow {
  std::string function;               // a location's, or a bracketed row; empty by module
  std::string module;                 // path; empty: none
  std::string file;                   // empty: not known, or none
  uint32_t line = 0;                  // 0: not known, or not one alone
  std::vector<DiffFrame> stack = {};  // by site: innermost first
  size_t location = 0;                // index into stack
  DiffFigures before, after;
};

// Largest change of the figure first; of equals by name.
std::vector<DiffRow> DiffRows(const Profile& before, const Profile& after, DiffBy by,
                              Figure figure = Figure::kPeak, DiffSort sort = DiffSort::kBytes);

DiffFigures FiguresOf(const Profile& profile);

// Those that both captures tell: an old one may not say what was temporary.
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

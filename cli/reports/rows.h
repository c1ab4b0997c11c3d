// Rows: a profile's sites summed up by location, for the reports that list places.
//
// Invariant: the rows' figures sum to the profile's totals; what is kept by design is one row of
// its own (unless shown), and no site is left out.
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/figure.h"
#include "core/profile/profile.h"
#include "core/result.h"

namespace memprof {

// A function that called a location, with what of the location's row came through it.
struct CallerRow : Figures {
  std::string function;  // or "[no caller]"
  std::string file;
  uint32_t line = 0;
  std::string module;
  FigureVariances variances;
};

struct LocationRow : Figures {
  std::string function;  // a location's, or a bracketed row
  std::string file;
  uint32_t line = 0;
  std::string module;          // path; empty: none
  uint32_t heaviest_node = 0;  // the leaf of the site that weighs most in the figure sorted by
  uint64_t heaviest_bytes = 0;
  uint32_t stacks = 0;               // sites summed up here
  std::vector<uint32_t> sites = {};  // which, ascending
  FigureVariances variances;
  // If asked for: they sum to the row, in the rows' order.
  std::vector<CallerRow> callers = {};
};

enum class SortKey { kBytes, kAllocations, kTotal, kFunction };
Result<SortKey> ParseSortKey(std::string_view text);

struct RowOptions {
  Figure figure = Figure::kPeak;
  bool show_runtime = false;  // what is kept by design: a row a reason instead of one in all
  SortKey sort = SortKey::kBytes;
  bool callers = false;  // who calls the location: the next frame out that is no system's
};

std::vector<LocationRow> LocationRows(const Profile& profile, const RowOptions& options);

// Where a function is: "file.cc:12", with the last `folders` of its path. Where no file is known,
// the module's name; nothing for a function that is named after it ("libx.so+0x12").
std::string PlaceOf(const std::string& function, const std::string& file, uint32_t line,
                    const std::string& module, size_t folders = 0);

}  // namespace memprof

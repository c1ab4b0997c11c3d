// Rows: a profile's sites summed up by location, for the reports that list places.
//
// Invariant: the rows' figures sum to the profile's totals. Blocks kept by design are one row
// (unless shown), and no site is left out.
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

// A caller of a location, with the part of the location's row that came through it.
struct CallerRow : Figures {
  std::string function;  // or "[no caller]"
  std::string file;
  uint32_t line = 0;
  std::string module;
  FigureVariances variances;
  Count of_running_threads;  // the part of `leaked` of threads that still ran at the end
};

struct LocationRow : Figures {
  std::string function;  // a location's, or a bracketed row
  std::string file;
  uint32_t line = 0;
  std::string module;          // path; empty: none
  uint32_t heaviest_node = 0;  // the leaf of the site with the largest share of the sorting figure
  uint64_t heaviest_bytes = 0;
  uint32_t stacks = 0;               // number of sites in this row
  std::vector<uint32_t> sites = {};  // their indices, ascending
  FigureVariances variances;
  Count of_running_threads;  // the part of `leaked` of threads that still ran at the end
  // Filled if asked for: they sum to the row, and have the rows' order.
  std::vector<CallerRow> callers = {};
};

enum class SortKey { kBytes, kAllocations, kTotal, kFunction };
Result<SortKey> ParseSortKey(std::string_view text);

struct RowOptions {
  Figure figure = Figure::kPeak;
  bool show_runtime = false;  // blocks kept by design: a row for each reason instead of one for all
  SortKey sort = SortKey::kBytes;
  bool callers = false;  // fill callers: the next frame outwards that isn't system code
};

std::vector<LocationRow> LocationRows(const Profile& profile, const RowOptions& options);

// The place of a function: "file.cc:12", with the last `folders` of its path. If the file isn't
// known, the module's name; empty for a function that is named after its module ("libx.so+0x12").
std::string PlaceOf(const std::string& function, const std::string& file, uint32_t line,
                    const std::string& module, size_t folders = 0);

}  // namespace memprof

// MappingRows: what the program mapped itself, by place: `memprof table --mmap`.
//
// Invariant: rows that aren't reserved sum to the mappings' totals; what the peak's rows lack of it
// has a row with a name. What is only reserved is in no total.
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"
#include "core/figure.h"
#include "core/profile/profile.h"

namespace memprof {

struct MappingRow {
  std::string function;
  std::string file;  // of the function
  uint32_t line = 0;
  std::string module;
  MappingKind kind = MappingKind::kAnonymous;
  bool reserved = false;
  std::string mapped_file;
  Count peak, leaked, total;
};

// Those that aren't reserved first, then by the figure. Pre: not kTemporary.
std::vector<MappingRow> MappingRows(const Profile& profile, Figure figure);

// At most `limit` rows of each table, the others as one; 0: all.
std::string MappingsText(const Profile& profile, Figure figure, size_t limit,
                         const TextStyle& style);
std::string MappingsJsonText(const Profile& profile, Figure figure, size_t limit);
std::string MappingsCsv(const Profile& profile, Figure figure, size_t limit);

// Why there are none; empty: there are.
std::string WhyNoMappings(const Profile& profile, const std::string& capture);

}  // namespace memprof

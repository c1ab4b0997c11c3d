// MappingRows: the program's own mappings, by place: `memprof table --mmap`.
//
// Invariant: the rows that aren't reserved sum to the mappings' totals. If the peak's rows lack
// something, it has a row with a name. Reserved address space is in no total.
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
  std::string file;  // the function's source file
  uint32_t line = 0;
  std::string module;
  MappingKind kind = MappingKind::kAnonymous;
  bool reserved = false;
  std::string mapped_file;
  Count peak, leaked, total;
};

// Pre: not kTemporary.
inline const Count& ShownOf(const MappingRow& row, Figure figure) {
  return figure == Figure::kLeaked ? row.leaked : figure == Figure::kTotal ? row.total : row.peak;
}

// Reserved rows come last; then ordered by the figure. Pre: not kTemporary.
std::vector<MappingRow> MappingRows(const Profile& profile, Figure figure);

// At most `limit` rows of each table; the others are one row. 0: all.
std::string MappingsText(const Profile& profile, Figure figure, size_t limit,
                         const TextStyle& style);
std::string MappingsJsonText(const Profile& profile, Figure figure, size_t limit);
std::string MappingsCsv(const Profile& profile, Figure figure, size_t limit);

// Why there are no mappings; empty if there are some.
std::string WhyNoMappings(const Profile& profile, const std::string& capture);

}  // namespace memprof

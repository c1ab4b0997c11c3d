// What the program mapped itself (mmap, mremap, brk), as plain values: a category of its own, never
// added into the heap's totals.
//
// A mapping counts as long as a byte of it is left. What is only reserved (PROT_NONE;
// MAP_NORESERVE) has rows of its own and is in no total but theirs.
//
// Invariant: the rows that aren't reserved sum to the totals. Units: bytes are whole pages, but of
// the break. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/count.h"
#include "core/protocol/mapping_layout.h"

namespace memprof {

// What one place has mapped, as SnapshotSite; `allocations` of a Count are mappings.
struct SnapshotMapping {
  uint32_t node = 0;
  uint32_t thread_name = 0;
  MappingKind kind = MappingKind::kAnonymous;
  bool reserved = false;
  std::string file = {};  // of kFile; empty: not known
  Count peak;             // mapped when the most was (of what isn't reserved)
  Count leaked;           // at the end, or now
  Count total;
  friend bool operator==(const SnapshotMapping&, const SnapshotMapping&) = default;
};

struct SnapshotMappings {
  bool followed = false;  // false: nobody looked
  std::vector<SnapshotMapping> rows;
  uint64_t lost_events = 0;         // for which there was no room
  uint64_t unattributed_bytes = 0;  // at the peak, in no row: events raced the read
  friend bool operator==(const SnapshotMappings&, const SnapshotMappings&) = default;
};

struct MappingSums {
  Count peak, leaked, total;
};
MappingSums SumMappings(const std::vector<SnapshotMapping>& rows, bool reserved);

// Rows of one place become one, by place; those without a figure are left out.
std::vector<SnapshotMapping> CanonicalMappings(const std::vector<SnapshotMapping>& rows);
bool HasFigure(const SnapshotMapping& row);

// "anonymous", "shared", "file", "break": in JSON and text.
const char* NameOf(MappingKind kind);

}  // namespace memprof

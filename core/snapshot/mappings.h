// SnapshotMappings: memory that the program mapped itself (mmap, mremap, brk), as plain values. It
// is a category of its own, never added to the heap's totals.
//
// A mapping counts as long as a byte of it is left. Reserved address space (PROT_NONE;
// MAP_NORESERVE) has rows of its own and is in no other total.
//
// Invariant: the rows that aren't reserved sum to the totals. Units: bytes are whole pages, except
// those of the break. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/count.h"
#include "core/protocol/mapping_layout.h"
#include "core/snapshot/history.h"

namespace memprof {

// The mappings of one place, as SnapshotSite; the `allocations` of a Count are mappings.
struct SnapshotMapping {
  uint32_t node = 0;
  uint32_t thread_name = 0;
  MappingKind kind = MappingKind::kAnonymous;
  bool reserved = false;
  std::string file = {};  // for kFile; empty: not known
  Count peak;             // mapped when the mapped total (without reserved) was highest
  Count leaked;           // at the end, or now
  Count total;
  LiveHistory history = {};  // mapped at the snapshot's moments
  friend bool operator==(const SnapshotMapping&, const SnapshotMapping&) = default;
};

struct SnapshotMappings {
  bool followed = false;  // false: mappings were not followed
  std::vector<SnapshotMapping> rows;
  uint64_t lost_events = 0;         // events that aren't in the figures
  uint64_t unattributed_bytes = 0;  // at the peak, in no row: events raced the read
  friend bool operator==(const SnapshotMappings&, const SnapshotMappings&) = default;
};

struct MappingSums {
  Count peak, leaked, total;
};
MappingSums SumMappings(const std::vector<SnapshotMapping>& rows, bool reserved);

// Sums the rows of each place, orders them by place, and drops those without a figure.
std::vector<SnapshotMapping> CanonicalMappings(const std::vector<SnapshotMapping>& rows);
bool HasFigure(const SnapshotMapping& row);

// "anonymous", "shared", "file", "break": the names in JSON and text.
const char* NameOf(MappingKind kind);

}  // namespace memprof
